import { z } from 'zod'
import { COLLECTORS } from '../collectors/index.ts'
import { health } from '../health/settings.ts'
import { serveQuery } from '../../query/service/settings.ts'
import { baseUrl, file, hostName, listen, reference } from '../core/settings.ts'
import { PREFIX } from './source.ts'

/** The settings of each collector, under its name. */
function settingsOf<T extends Readonly<Record<string, { readonly settings: z.ZodType }>>>(
  list: T,
): { -readonly [Name in keyof T]: T[Name]['settings'] }
function settingsOf(list: Readonly<Record<string, { readonly settings: z.ZodType }>>) {
  return Object.fromEntries(Object.entries(list).map(([name, { settings }]) => [name, settings]))
}

/** A section that need not be in the file. */
function section<Fields extends z.ZodRawShape>(fields: Fields): z.ZodPrefault<z.ZodObject<Fields, z.core.$strict>>
function section(fields: z.ZodRawShape) {
  return z.strictObject(fields).prefault({})
}

/** Everything that can be set, with the default for a standard node. Descriptions become the example file. */
export const schema = z.strictObject({
  prefix: z
    .string()
    .regex(PREFIX, 'expected auto, or the name prefix in lower case, like chain or monad')
    .default('auto')
    .describe('the name prefix of every unit and tool; auto finds it from systemd, then PATH'),
  listen,
  profile: z
    .enum(['node', 'watcher'], 'expected node or watcher')
    .default('node')
    .describe('watcher: no node on this host; only what another host can see is enabled: docs/how-to/heartbeat.md'),
  web: section({
    configFile: file(
      'TLS and passwords of the listeners, in the format of exporter-toolkit: docs/how-to/tls.md; none by default',
    )
      .nullable()
      .default(null),
    hosts: z
      .array(hostName)
      .max(100)
      .default([])
      .describe(
        'host names of this host; requests with others are rejected. Without any, a loopback listener accepts loopback names, others accept every name',
      ),
  }),
  log: section({
    level: z
      .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
      .default('info')
      .describe('trace, debug, info, warn, error or silent'),
  }),
  state: section({
    directory: z
      .string()
      .min(1, 'expected a directory')
      .default('/var/lib/chain-agent')
      .describe('directory of the journal cursors, so that a restart loses no line'),
  }),
  events: section({
    keep: z
      .int()
      .min(100, 'expected a number from 100 to 100000')
      .max(100_000, 'expected a number from 100 to 100000')
      .default(10_000)
      .describe('how many changes of state are kept in state.directory, for `chain-agent events`'),
  }),
  node: section({
    publicKey: z
      .string()
      .regex(/^(?:0x)?0[23][0-9a-fA-F]{64}$/, 'expected a secp public key: 66 hex digits')
      .transform((key) => key.replace(/^0x/, '').toLowerCase())
      .nullable()
      .default(null)
      .describe("the node's secp public key; identifies its own blocks and timeouts"),
    directory: file(
      "the node's directory: configuration, keys, ledger. {prefix} in paths: see docs/how-to/keys.md",
    ).default('/home/{prefix}/{prefix}-bft'),
    environmentFile: file("the node's environment file, with the password of its keystores").default(
      '/home/{prefix}/.env',
    ),
    backupDirectory: file('the directory of the key backups').default('/opt/{prefix}/backup'),
  }),
  references: z
    .array(reference, 'expected a list of {name, url, kind, apiKeyFile}')
    .refine(
      (list) => new Set(list.map(({ name }) => name)).size === list.length,
      'expected names that differ; give each its `name`',
    )
    .default([])
    .describe('other views of the same chain: {name, url, kind: rpc or query, apiKeyFile}'),
  names: section({
    file: file('names for keys, as in networks/names.example.yaml; for monlog -n').nullable().default(null),
  }),
  startGuard: section({
    agents: z
      .array(baseUrl('address of an agent'), 'expected a list of addresses')
      .max(20)
      .default([])
      .describe(
        'agents of other hosts, like http://10.0.0.2:9843, which `chain-agent start-guard` reads: docs/how-to/start-guard.md',
      ),
  }),
  health,
  ...settingsOf(COLLECTORS),
  serveQuery,
})

/** What the profile watcher enables; it disables the other collectors, unless the configuration enables one. */
export const WATCHER_COLLECTORS: readonly string[] =
  'reference staking watched maintenance heartbeat alertmanagers'.split(' ')

/** The configuration as the agent uses it: durations in milliseconds, everything present. */
export type Config = z.output<typeof schema>

/** A configuration key. */
export interface Key {
  /** `rpc.interval` */
  readonly path: string
  /** `CHAIN_AGENT_RPC_INTERVAL` */
  readonly variable: string
  readonly description: string
  /** The default value as written in a file. */
  readonly byDefault: unknown
  /** Whether a value from the environment or a flag is used as a string, or parsed as YAML. */
  readonly isText: boolean
}

const collect = (node: z.core.$ZodType, path: readonly string[]): readonly Key[] => {
  let inner = node
  let byDefault: unknown = null
  let description = ''
  for (;;) {
    description = z.globalRegistry.get(inner)?.description ?? description
    if (inner instanceof z.ZodDefault || inner instanceof z.ZodPrefault) {
      byDefault = inner.def.defaultValue
      inner = inner.def.innerType
    } else if (inner instanceof z.ZodNullable) inner = inner.def.innerType
    else if (inner instanceof z.ZodPipe) inner = inner.def.in
    else break
  }
  if (inner instanceof z.ZodObject) {
    return Object.entries<z.core.$ZodType>(inner.shape).flatMap(([key, child]) => collect(child, [...path, key]))
  }
  const isText = inner instanceof z.ZodString || inner instanceof z.ZodEnum
  return [{ path: path.join('.'), variable: variableOf(path), description, byDefault, isText }]
}

const variableOf = (path: readonly string[]): string =>
  `CHAIN_AGENT_${path
    .join('_')
    .replaceAll(/[A-Z]/g, (capital) => `_${capital}`)
    .toUpperCase()}`

/** All keys in documentation order, derived from the schema. */
export const keys: readonly Key[] = collect(schema, [])

type Removed = readonly [paths: string, instead: string]

/** The settings of its timing that a collector does not have any more. */
const removedTiming = (name: string): readonly Removed[] =>
  keys.some(({ path }) => path === `${name}.interval`)
    ? [[`${name}.timeout`, `the time limit of a read follows from ${name}.interval`]]
    : ['interval', 'timeout'].map((key) => [`${name}.${key}`, `the ${key} of this collector is fixed`])

const REMOVED: readonly Removed[] = [
  [
    'tokens tokens.enabled tokens.interval tokens.timeout tokens.url tokens.apiKeyFile tokens.watch',
    '`chain-agent balances` computes the balances of a token',
  ],
  ['staking.schedule', 'the leader schedule is computed from the files of the node'],
  ['staking.expected.commission', 'ChainStakingMismatch.commission-changed reports each change'],
  ['staking.epochBlocks staking.delayRounds', 'the length of an epoch is that of the chain in networks/staking.yaml'],
  ['reference.enabled', 'nothing is compared with `references: []`'],
  ['watched.enabled', 'no node is watched without watched.name'],
  ['heartbeat.enabled', 'none is sent without heartbeat.urlFile'],
  ['alertmanagers.enabled', 'no alert is sent with `alertmanagers.urls: []`'],
]

/** Keys of version 0.2.0 that do not exist any more, and what applies instead. */
export const removedKeys = [...Object.keys(COLLECTORS).flatMap(removedTiming), ...REMOVED].flatMap(([paths, instead]) =>
  paths.split(' ').map((path) => ({ path, instead, variable: variableOf(path.split('.')) })),
)
