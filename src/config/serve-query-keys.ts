import { z } from 'zod'
import { parseBytes } from '../core/units.ts'
import { address, duration, file, listenAt } from './values.ts'

const WHOLE = 'expected a whole number'
const SHARE = 'expected a share of the time, from 0.05 to 1'

const topic = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, 'expected a topic: 0x and 64 hex digits')
  .transform((text) => text.toLowerCase())

const bytes = z
  .union([z.int().positive(), z.string()], 'expected a size like 500GB')
  .transform((given, context) => {
    const size = typeof given === 'number' ? given : parseBytes(given)
    if (size !== undefined && size >= 1e6) return size
    context.addIssue('expected a size of at least 1MB, like 500GB or 2TiB')
    return z.NEVER
  })

/** One server or, parted by commas, all of a cluster. */
const CLICKHOUSE =
  /^clickhouses?:\/\/(?:[^\s/?#@:]+(?<password>:[^\s/?#@]*)?@)?[^\s/?#@]+(?:[/?][^\s@]*)?$/i

/** A directory, or a server; a password in it would stand in the list of processes and in this file. */
const store = z
  .string()
  .refine((text) => text.startsWith('/') || CLICKHOUSE.test(text), {
    message: 'expected a directory that begins with /, or clickhouse://USER@HOST:8123/DATABASE',
  })
  .refine((text) => CLICKHOUSE.exec(text)?.groups?.['password'] === undefined, {
    message: 'expected an address without a password in it; passwords have storePasswordFile',
  })
  .describe('where logs are kept: a directory, or clickhouse://USER@HOST:8123/DATABASE')

/** What can be set of the query service, which is a process of its own. */
export const serveQuery = z
  .strictObject({
    listen: listenAt('127.0.0.1:8181', 'where `chain-agent serve-query` answers queries'),
    metricsListen: listenAt(
      '127.0.0.1:9144',
      'where it serves its /metrics, /-/healthy and /-/ready; not for the public',
    ),
    store: store.default('/var/lib/chain-agent-serve-query'),
    storePasswordFile: file('the file with the password of the user of ClickHouse')
      .nullable()
      .default(null),
    fromBlock: z
      .int(WHOLE)
      .nonnegative(WHOLE)
      .default(0)
      .describe('the first block to index, where the store is empty'),
    contracts: z
      .array(address)
      .max(10_000)
      .default([])
      .describe('keep logs of these contracts alone; of all when empty'),
    topics: z
      .array(z.array(topic))
      .max(4, 'expected at most four positions')
      .default([])
      .describe('keep logs with these topics alone: alternatives by position, [] for any'),
    retentionBlocks: z
      .int(WHOLE)
      .positive(WHOLE)
      .nullable()
      .default(null)
      .describe('keep so many of the newest blocks'),
    retentionBytes: bytes
      .nullable()
      .default(null)
      .describe('keep what fits into so much space, like 500GB: the newest blocks'),
    unbounded: z
      .boolean('expected true or false')
      .default(false)
      .describe('keep everything, whatever it takes; needed where nothing of the above says less'),
    behindAfter: z
      .union(
        [z.literal('never').transform(() => null), duration('60s', '')],
        'expected a duration like 60s, or never',
      )
      .prefault('60s')
      .describe(
        'a node whose newest block is older has enough to do, and is not asked for logs; never for a chain that rests',
      ),
    nodeShare: z
      .number(SHARE)
      .min(0.05, SHARE)
      .max(1, SHARE)
      .default(0.5)
      .describe(
        'the share of the time in which a back-fill may keep the node busy; 1 is without rest',
      ),
    dialect: z
      .enum(['spec', 'hosted'], 'expected spec or hosted')
      .default('spec')
      .describe('spec, or hosted for clients of the hosted service'),
    apiKeysFile: file('a file with API keys, one a line; without it everybody is answered')
      .nullable()
      .default(null),
    rateLimit: z
      .int(WHOLE)
      .positive(WHOLE)
      .nullable()
      .default(null)
      .describe('how many requests a minute a key, or an address without one, may make'),
    readyLag: z
      .int(WHOLE)
      .positive(WHOLE)
      .default(30)
      .describe('how many blocks behind the finalized one of the node it is still ready'),
  })
  .refine(
    ({ unbounded, retentionBlocks, retentionBytes }) =>
      !unbounded || (retentionBlocks === null && retentionBytes === null),
    { path: ['unbounded'], message: 'expected without retentionBlocks and retentionBytes' },
  )
  .refine(
    ({ store: place, storePasswordFile }) => storePasswordFile === null || CLICKHOUSE.test(place),
    {
      path: ['storePasswordFile'],
      message: 'expected with a store in ClickHouse; a directory has no password',
    },
  )
  .prefault({})
