import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import {
  type ConfigOptions,
  fileAndSettingOptions,
  flagsOf,
  webConfigOption,
} from '../../../src/terminal/config-options.ts'
import { defineCommand } from '../../../src/terminal/define-command.ts'
import { type ActionContext, UsageError } from '../../../src/terminal/io.ts'
import { NO_VALUES, repeatable } from '../../../src/terminal/option-values.ts'
import type { ConfigurationReader, Inputs } from '../../../src/config/load.ts'
import type { Config } from '../../../src/config/schema.ts'
import { readAddress, readTopic, type Topics } from '../query/service.ts'
import type { BlockRange } from './reread.ts'

/** `chain-agent serve-query`: a self-hosted query service. The program passes what reads the configuration of all parts. */
export const serveQueryCommand = (loadConfiguration: LoadConfiguration) =>
  defineCommand({
    options: (command) => serveQueryOptions(command),
    help: `Indexes final blocks only, each complete and linked to the previous one by hash.
GET /height returns the last block without a gap before it. The store must be
limited: by contracts or topics, by blocks or bytes, or explicitly not at all
(--unbounded). A store belongs to one chain and one set of contracts and topics;
opening it with others fails, and queries for logs that it does not keep are
rejected. Official clients of the hosted service use it with any --dialect.

Each option is also a key of serveQuery in the configuration file (chain-agent
config --example) and overrides it. Without --api-keys-file, --listen is
unauthenticated: use a loopback address, or set passwords. --web.config.file
sets TLS for both addresses and passwords, in the format of exporter-toolkit:
docs/how-to/tls.md. It is read again when it or a certificate has changed.
While the node is unreachable, the service answers from its store. Ctrl-C stops
it gracefully; after a kill it resumes where it was.

SIGHUP (systemctl reload) reloads the configuration: log.level, and of
serveQuery apiKeysFile (and the keys in the file), rateLimit and readyLag. The
log names all other keys that changed: they need a restart. If the configuration
is invalid, the service logs the error and keeps the previous one.

--reread FROM-TO reads stored blocks from the node again, verifies and replaces
them, prints the number of blocks and of logs before and after, and exits. Use
it for blocks that were stored without some of their logs, with the same store
and limits as the service, while the service is stopped. If it is interrupted,
each block is as before or as read; run it again.

Exit codes: 0 stopped by a signal, or all blocks were read again; 1 failure; 2
usage error; 130 --reread was interrupted.

Examples:
  chain-agent serve-query --store ./logs --contract 0x1111111111111111111111111111111111111111
  chain-agent serve-query --store ./logs --topic 'Transfer(address,address,uint256)' --retention-bytes 500GB
  chain-agent serve-query --store ./logs --retention-blocks 1000000 --rpc-url http://localhost:8080 --from-block 40000000
  chain-agent serve-query --store clickhouse://agent@localhost:8123/logs --store-password-file /etc/chain-agent/clickhouse --unbounded
  chain-agent serve-query --config /etc/chain-agent/query-service.yaml --reread 40000000-40000999
  chain-agent serve-query --config /etc/chain-agent/query-service.yaml --dialect hosted --api-keys-file /etc/chain-agent/query-keys`,
    load: () => createServe(loadConfiguration),
  })

type LoadConfiguration = () => Promise<ConfigurationReader>

const createServe =
  (loadConfiguration: LoadConfiguration) =>
  async ({ io, exit, options }: ActionContext<ServeQueryFlags>): Promise<void> => {
    const [{ readConfig, changedKeys }, { createLog }, { serveQuery }] = await Promise.all([
      loadConfiguration(),
      import('../../../src/terminal/logger.ts'),
      import('./serve-query.ts'),
    ])
    const inputs = { env: io.env, flags: serveQueryInputs(options), installed: io.installedConfig }
    const read = () => readConfig(options.config, inputs).config
    const config = read()
    if (options.reread !== undefined) {
      const { reread } = await import('./reread.ts')
      await reread(io, exit, { config, range: options.reread, json: options.json === true })
      return
    }
    if (options.json) throw new UsageError('--json is for --reread: the service prints no result')
    await serveQuery({
      config,
      clock: io.clock,
      log: createLog(config, io),
      signal: io.signal,
      ...(io.onHangup && { reloads: { on: io.onHangup, read, changedKeys } }),
    })
    exit(0)
  }

export interface ServeQueryFlags extends Omit<ConfigOptions, 'prefix'> {
  readonly reread?: BlockRange
  readonly json?: true
}

const NO_TOPICS: Topics = []

/** The options for keys of `serveQuery`, and what they accept beyond a text. */
const SETTINGS: readonly (readonly [
  key: keyof Config['serveQuery'],
  flags: string,
  description: string,
  accept?: (option: Option) => Option,
])[] = [
  ['listen', '--listen <host:port>', 'address of the query API (default: 127.0.0.1:8181)'],
  [
    'metricsListen',
    '--metrics-listen <host:port>',
    'address of the page, /metrics, /-/healthy and /-/ready (default: 127.0.0.1:9144)',
  ],
  ['store', '--store <place>', 'store: a directory, or clickhouse://USER@HOST:8123/DATABASE'],
  ['storePasswordFile', '--store-password-file <file>', 'file that contains the password of this user only'],
  ['fromBlock', '--from-block <number>', 'first block to index into an empty store (default: 0)'],
  [
    'contracts',
    '--contract <address>',
    'keep only logs of this contract; repeatable (default: all contracts)',
    (option) => option.argParser(repeatable(readAddress)).default(NO_VALUES),
  ],
  [
    'topics',
    '--topic <topics>',
    '[POSITION:]VALUE[,VALUE]: keep only logs with one of these topics: a topic, an address, or an event signature; repeatable',
    (option) => option.argParser(readTopic).default(NO_TOPICS),
  ],
  ['retentionBlocks', '--retention-blocks <number>', 'keep this number of the newest blocks'],
  ['retentionBytes', '--retention-bytes <size>', 'keep the newest blocks that fit into this size, such as 500GB'],
  ['unbounded', '--unbounded', 'keep everything, without a size limit'],
  [
    'nodeShare',
    '--node-share <0.05-1>',
    'largest share of time in which a backfill keeps the node busy; 1 is always (default: 0.5)',
  ],
  [
    'dialect',
    '--dialect <dialect>',
    'API dialect; hosted is for clients of the hosted service (default: spec)',
    (option) => option.choices(['spec', 'hosted']),
  ],
  ['apiKeysFile', '--api-keys-file <file>', 'file with API keys, one per line; without it no key is required'],
  ['rateLimit', '--rate-limit <number>', 'requests per minute for each key or client address'],
  ['readyLag', '--ready-lag <blocks>', 'largest distance behind the node at which /-/ready is ready (default: 30)'],
]

export const serveQueryOptions = (command: Command): Command => {
  for (const [, flags, description, accept] of SETTINGS) {
    const option = new Option(flags, description)
    command.addOption(accept?.(option) ?? option)
  }
  return fileAndSettingOptions(
    webConfigOption(command)
      .option(
        '--reread <from-to>',
        'read these blocks of the store from the node again, replace them, and exit',
        readBlockRange,
      )
      .option('--json', 'print the result of --reread as JSON'),
  )
}

/** The command line options as configuration inputs. */
export const serveQueryInputs = (options: ServeQueryFlags): Inputs['flags'] => {
  // To the configuration, --listen is another setting.
  const { listen, ...others } = options
  const values = new Map<string, unknown>(Object.entries({ ...others, listen }))
  const settings = SETTINGS.flatMap(([key, flags]) => {
    const [typed = ''] = flags.split(' ')
    const value = textOf(values.get(new Option(flags).attributeName()))
    if (value === undefined) return []
    // Relative paths are resolved here, since the configuration has no working directory.
    const isPath = /file$/i.test(key) || (key === 'store' && !value.includes('://'))
    return [{ path: `serveQuery.${key}`, value: isPath ? resolve(value) : value, typed }]
  })
  return [...flagsOf(others), ...settings]
}

/** Undefined for an option that was not given. */
const textOf = (value: unknown): string | undefined => {
  if (typeof value === 'string' || value === undefined) return value
  return Array.isArray(value) && value.length === 0 ? undefined : JSON.stringify(value)
}

/** Parses `FROM-TO`, or one block number. Throws an InvalidArgumentError. */
const readBlockRange = (text: string): BlockRange => {
  const [, first, last = first] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(text) ?? []
  if (first === undefined || last === undefined)
    throw new InvalidArgumentError('expected a block number or FROM-TO, such as 1000-1999')
  if (Number(last) < Number(first)) throw new InvalidArgumentError('the last block is before the first')
  return { from: Number(first), to: Number(last) }
}
