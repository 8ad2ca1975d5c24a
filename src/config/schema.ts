import { z } from 'zod'
import { parseDuration } from '../core/units.ts'

const HOUR = 3_600_000

/** Durations are written with their unit and become milliseconds. */
const duration = (byDefault: string, description: string) =>
  z
    .string('expected a duration like 2s, 500ms or 5m')
    .transform((text, context) => {
      const milliseconds = parseDuration(text)
      if (milliseconds !== undefined && milliseconds >= 50 && milliseconds <= 24 * HOUR) {
        return milliseconds
      }
      context.addIssue('expected a duration between 50ms and 1d, like 2s, 500ms or 5m')
      return z.NEVER
    })
    .prefault(byDefault)
    .describe(description)

const url = (description: string) =>
  z
    .string('expected an http or https address')
    .refine(
      (text) => URL.canParse(text) && /^https?:\/\/\S+$/i.test(text),
      'expected an http or https address, like http://localhost:8080',
    )
    .describe(description)

const LISTEN = /^(?:\[(?<v6>[0-9a-fA-F:.]+)\]|(?<host>[^\s:[\]]+)):(?<port>\d{1,5})$/

const listen = z
  .string('expected HOST:PORT')
  .transform((text, context) => {
    const { v6, host, port } = LISTEN.exec(text)?.groups ?? {}
    const name = v6 ?? host
    if (name !== undefined && Number(port) <= 65_535) return { host: name, port: Number(port) }
    context.addIssue('expected HOST:PORT, like 127.0.0.1:9843 or [::1]:9843')
    return z.NEVER
  })
  .prefault('127.0.0.1:9843')
  .describe('where /metrics is served; loopback unless you say otherwise')

/** A word that is fit for a label: it ends up in every series about the thing. */
const label = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, 'expected letters, digits, dots and dashes')

const reference = z
  .strictObject({
    name: label.optional(),
    url: url('address of the reference'),
    kind: z.enum(['rpc', 'query'], 'expected rpc or query').default('rpc'),
  })
  .transform(({ name, url: address, kind }) => ({
    // A name and never the address: addresses carry keys, and a label is public.
    name: name ?? new URL(address).hostname,
    url: address,
    kind,
  }))

const enabled = z.boolean('expected true or false').default(true).describe('false turns it off')

const timing = (interval: string, timeout: string, [often, long]: readonly [string, string]) => ({
  enabled,
  interval: duration(interval, often),
  timeout: duration(timeout, long),
})

const serviceUnit = z.string().regex(/^\S+\.service$/, 'expected the name of a .service unit')

const POLL = ['how often it asks', 'how long it waits for an answer'] as const
const FOLLOW = [
  'how often it shows that it is alive',
  'how long opening the journal may take',
] as const

/** Everything that can be set, with the default for a standard node. Descriptions become the example file. */
export const schema = z.strictObject({
  prefix: z
    .string()
    .regex(
      /^[a-z][a-z0-9]*$/,
      "expected auto, or the maker's word in lower case, like chain or monad",
    )
    .default('auto')
    .describe("the maker's word before every unit and tool; auto finds it from systemd, then PATH"),
  listen,
  log: z
    .strictObject({
      level: z
        .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
        .default('info')
        .describe('trace, debug, info, warn, error or silent'),
    })
    .prefault({}),
  state: z
    .strictObject({
      directory: z
        .string()
        .min(1, 'expected a directory')
        .default('/var/lib/chain-agent')
        .describe('where the places in the journal are kept, so that a restart loses no line'),
    })
    .prefault({}),
  node: z
    .strictObject({
      publicKey: z
        .string()
        .regex(/^(?:0x)?0[23][0-9a-fA-F]{64}$/, 'expected a secp public key: 66 hex digits')
        .transform((key) => key.replace(/^0x/, '').toLowerCase())
        .nullable()
        .default(null)
        .describe("the node's secp public key; tells its own blocks and timeouts from the others'"),
    })
    .prefault({}),
  references: z
    .array(reference, 'expected a list of {name, url, kind}')
    .refine(
      (list) => new Set(list.map(({ name }) => name)).size === list.length,
      'expected names that differ; give each its `name`',
    )
    .default([])
    .describe('other views of the same chain: {name, url, kind: rpc or query}'),
  rpc: z
    .strictObject({
      ...timing('2s', '3s', POLL),
      url: url("the node's JSON-RPC").default('http://localhost:8080'),
    })
    .prefault({}),
  reference: z.strictObject(timing('10s', '5s', POLL)).prefault({}),
  services: z
    .strictObject({
      ...timing('10s', '5s', POLL),
      units: z
        .record(label, serviceUnit)
        .default({
          bft: '{prefix}-bft.service',
          execution: '{prefix}-execution.service',
          rpc: '{prefix}-rpc.service',
          'ledger-tail': '{prefix}-ledger-tail.service',
          otelcol: 'otelcol.service',
          cruft: '{prefix}-cruft.service',
        })
        .describe('the units to watch: label → unit'),
      required: z
        .array(label)
        .default(['bft', 'execution', 'rpc'])
        .describe('units that should run even where they are not enabled'),
      timers: z
        .record(label, z.string().regex(/^\S+\.timer$/, 'expected the name of a .timer unit'))
        .default({ cruft: '{prefix}-cruft.timer' })
        .describe('the timers to watch: label → unit'),
    })
    .refine(({ units, required }) => required.every((name) => name in units), {
      path: ['required'],
      message: 'expected names that stand in services.units',
    })
    .prefault({}),
  lifecycle: z.strictObject(timing('5s', '10s', FOLLOW)).prefault({}),
  ledger: z
    .strictObject({
      ...timing('5s', '10s', FOLLOW),
      unit: serviceUnit
        .default('{prefix}-ledger-tail.service')
        .describe('the unit whose journal carries the ledger stream'),
    })
    .prefault({}),
  consensus: z
    .strictObject({
      ...timing('5s', '10s', FOLLOW),
      unit: serviceUnit
        .default('{prefix}-bft.service')
        .describe('the unit whose journal is the consensus log'),
    })
    .prefault({}),
  storage: z
    .strictObject({
      ...timing('60s', '20s', POLL),
      devices: z
        .array(z.string().min(1))
        .min(1, 'expected at least one device')
        .default(['/dev/triedb'])
        .describe('the devices of the database, as the node is given them'),
      reportFile: z
        .string()
        .min(1)
        .nullable()
        .default(null)
        .describe(
          'read the report from this file, which a privileged unit writes (deploy/), instead',
        ),
    })
    .prefault({}),
  status: z.strictObject(timing('5m', '60s', POLL)).prefault({}),
})

/** The configuration as the agent uses it: durations in milliseconds, everything present. */
export type Config = z.output<typeof schema>
