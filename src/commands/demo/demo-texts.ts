import { join } from 'node:path'
import { stringify } from 'yaml'
import { z } from 'zod'
import { shellQuote } from '../../core/shell-quote.ts'
import { TOKENS } from '../../simulator/chain/token-events.ts'

/** Where the simulator says that its parts are: the line that `simulate --json` prints. */
export const placeSchema = z.object({
  rpcUrl: z.string(),
  referenceUrl: z.string(),
  nativeUrl: z.string(),
  otelUrl: z.string(),
  binDirectory: z.string(),
  ownPublicKey: z.string(),
  firstServiceBlock: z.number(),
  prefix: z.string(),
  nodeDirectory: z.string(),
  backupDirectory: z.string(),
  environmentFile: z.string(),
  forksFile: z.string(),
  host: z.object({
    procfs: z.string(),
    sysfs: z.string(),
    bootDirectory: z.string(),
    smartDirectory: z.string(),
    directories: z.record(z.string(), z.string()),
  }),
})

export type Place = z.output<typeof placeSchema>

interface Settings {
  readonly directory: string
  readonly port: number
  /** How often collectors ask, by their names; the others as on a host at work. */
  readonly intervals?: Readonly<Record<string, string>>
  /** Whether a query service can be reached, which is asked over a connection of its own. */
  readonly hasTokens?: boolean
}

/** More often than on a host at work: a rehearsal should be quick to show. */
const QUICK = {
  reference: '2s',
  services: '2s',
  tokens: '5s',
  native: '2s',
  keys: '5s',
  host: '5s',
  version: '5s',
} as const

/** The token whose balances the agent exports. */
const TOKEN = {
  name: 'demo',
  contract: TOKENS.erc20,
  standard: 'erc20',
  holders: [
    { name: 'first', address: `0x${'a1'.repeat(20)}` },
    { name: 'second', address: `0x${'b2'.repeat(20)}` },
  ],
} as const

/** The configuration of an agent that watches the simulated node. */
export const renderConfig = (
  { prefix, rpcUrl, referenceUrl, nativeUrl, otelUrl, ownPublicKey, ...files }: Place,
  { directory, port, intervals = QUICK, hasTokens = true }: Settings,
): string => {
  const at: Record<string, { readonly interval: string }> = {}
  for (const [name, interval] of Object.entries(intervals)) at[name] = { interval }
  return stringify({
    ...at,
    prefix,
    listen: `127.0.0.1:${port}`,
    log: { level: 'info' },
    state: { directory: join(directory, 'state') },
    node: {
      publicKey: ownPublicKey,
      directory: files.nodeDirectory,
      backupDirectory: files.backupDirectory,
      environmentFile: files.environmentFile,
    },
    references: [
      { name: 'other-rpc', url: referenceUrl, kind: 'rpc' },
      { name: 'query-service', url: referenceUrl, kind: 'query' },
    ],
    ...(hasTokens && {
      tokens: { ...at['tokens'], url: referenceUrl, watch: [TOKEN] },
      serveQuery: {
        store: join(directory, 'event-logs'),
        contracts: Object.values(TOKENS),
        fromBlock: files.firstServiceBlock,
      },
    }),
    rpc: { ...at['rpc'], url: rpcUrl },
    native: { ...at['native'], url: nativeUrl, fallbackUrl: otelUrl },
    host: { ...at['host'], ...files.host },
    version: { ...at['version'], forksFile: files.forksFile },
  })
}

/** Where `serve-query` listens by default. */
const SERVICE = 'http://127.0.0.1:8181'

interface Welcome {
  readonly scenario: string
  readonly port: number
  /** The port that was asked for. */
  readonly wanted: number
  readonly description: string
  readonly logFile: string
  readonly config: string
  readonly place: Place
  readonly pid: number | undefined
}

/** What the demo prints when node and agent run. */
export const renderWelcome = (welcome: Welcome): string => {
  const { scenario, description, port, logFile, config, place, pid, wanted } = welcome
  const { firstServiceBlock: first } = place
  const agent = `http://127.0.0.1:${port}`
  return [
    `Scenario "${scenario}": ${description}`,
    ...(wanted === 0 || wanted === port ? [] : [`Port ${wanted} is taken; the agent has ${port}.`]),
    '',
    `  page       ${agent}/`,
    `  metrics    ${agent}/metrics`,
    `  status     ${agent}/api/v1/status`,
    `  readiness  ${agent}/-/ready`,
    `  log        ${logFile}`,
    `  node       ${place.rpcUrl}, tools in ${place.binDirectory}`,
    `  pid        ${pid} is the node: kill it to see its series disappear`,
    '',
    'In a second terminal:',
    '',
    `  export PATH=${shellQuote(place.binDirectory)}:$PATH`,
    `  export CHAIN_AGENT_CONFIG=${shellQuote(config)}`,
    '  chain-agent check',
    '',
    'Event logs and token balances there:',
    '',
    '  chain-agent serve-query &',
    `  chain-agent balances --url ${SERVICE} --standard erc20 --token ${TOKENS.erc20} --created-in ${first}`,
    '',
    'Press Ctrl-C to stop node and agent.',
    '',
  ].join('\n')
}
