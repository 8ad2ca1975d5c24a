import { z } from 'zod'
import { parseBytes } from '../../src/core/units.ts'
import { address, duration, file, listenAt } from '../../src/core/settings.ts'

const WHOLE = 'expected a whole number'
const positive = z.int(WHOLE).positive(WHOLE)
const SHARE = 'expected a share of the time, from 0.05 to 1'

const topic = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, 'expected a topic: 0x and 64 hex digits')
  .transform((text) => text.toLowerCase())

const bytes = z.union([z.int().positive(), z.string()], 'expected a size like 500GB').transform((given, context) => {
  const size = typeof given === 'number' ? given : parseBytes(given)
  if (size !== undefined && size >= 1e6) return size
  context.addIssue('expected a size of at least 1MB, like 500GB or 2TiB')
  return z.NEVER
})

/** One server, or the servers of a cluster separated by commas. */
const CLICKHOUSE = /^clickhouses?:\/\/(?:[^\s/?#@:]+(?<password>:[^\s/?#@]*)?@)?[^\s/?#@]+(?:[/?][^\s@]*)?$/i

/** A directory or a server. A password in the URL would be visible in the process list and in this file. */
const store = z
  .string()
  .refine((text) => text.startsWith('/') || CLICKHOUSE.test(text), {
    message: 'expected a directory that begins with /, or clickhouse://USER@HOST:8123/DATABASE',
  })
  .refine((text) => CLICKHOUSE.exec(text)?.groups?.['password'] === undefined, {
    message: 'expected a URL without a password; set storePasswordFile instead',
  })
  .describe('where logs are kept: a directory, or clickhouse://USER@HOST:8123/DATABASE')

/** The settings of the query service, a separate process. */
export const serveQuery = z
  .strictObject({
    listen: listenAt('127.0.0.1:8181', 'the address on which `chain-agent serve-query` serves queries'),
    metricsListen: listenAt(
      '127.0.0.1:9144',
      'the address of its page, /metrics, /-/healthy and /-/ready; not for public access',
    ),
    store: store.default('/var/lib/chain-agent-serve-query'),
    storePasswordFile: file('the file with the password of the ClickHouse user').nullable().default(null),
    fromBlock: z.int(WHOLE).nonnegative(WHOLE).default(0).describe('the first block to index if the store is empty'),
    contracts: z.array(address).max(10_000).default([]).describe('keep only logs of these contracts; all if empty'),
    topics: z
      .array(z.array(topic))
      .max(4, 'expected at most four positions')
      .default([])
      .describe('keep only logs with these topics: alternatives by position, [] for any'),
    retentionBlocks: positive.nullable().default(null).describe('keep this number of the newest blocks'),
    retentionBytes: bytes
      .nullable()
      .default(null)
      .describe('keep the newest blocks that fit into this size, like 500GB'),
    unbounded: z
      .boolean('expected true or false')
      .default(false)
      .describe('keep everything, without a size limit; required if no retention is set'),
    behindAfter: z
      .union([z.literal('never').transform(() => null), duration('60s', '')], 'expected a duration like 60s, or never')
      .prefault('60s')
      .describe(
        'if the newest block of the node is older, the node is busy catching up and no logs are requested; never: for a chain without regular blocks',
      ),
    nodeShare: z
      .number(SHARE)
      .min(0.05, SHARE)
      .max(1, SHARE)
      .default(0.5)
      .describe('the share of time in which a backfill may use the node; 1 is without pauses'),
    dialect: z
      .enum(['spec', 'hosted'], 'expected spec or hosted')
      .default('spec')
      .describe('spec, or hosted for clients of the hosted service'),
    apiKeysFile: file('a file with API keys, one per line; without it, requests need no key').nullable().default(null),
    rateLimit: positive
      .nullable()
      .default(null)
      .describe('the limit of requests per minute for a key, or for an address without a key'),
    readyLag: positive
      .default(30)
      .describe('the maximum number of blocks behind the finalized block of the node at which the service is ready'),
  })
  .refine(
    ({ unbounded, retentionBlocks, retentionBytes }) =>
      !unbounded || (retentionBlocks === null && retentionBytes === null),
    { path: ['unbounded'], message: 'expected without retentionBlocks and retentionBytes' },
  )
  .refine(({ store: place, storePasswordFile }) => storePasswordFile === null || CLICKHOUSE.test(place), {
    path: ['storePasswordFile'],
    message: 'expected with a store in ClickHouse; a directory has no password',
  })
  .prefault({})
