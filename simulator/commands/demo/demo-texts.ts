import { join } from 'node:path'
import { stringify } from 'yaml'
import { z } from 'zod'
import { shellQuote } from '../../../src/core/format.ts'
import { beneficiaryOf, TOKENS } from '../../rpc/blocks.ts'

/** The line that `simulate --json` prints: URLs and paths of the simulated node. */
export const nodeInfoSchema = z.object({
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
  rootDirectory: z.string(),
  host: z.object({
    procfs: z.string(),
    sysfs: z.string(),
    bootDirectory: z.string(),
    smartDirectory: z.string(),
    directories: z.record(z.string(), z.string()),
  }),
})

export type NodeInfo = z.output<typeof nodeInfoSchema>

interface Settings {
  readonly directory: string
  readonly port: number
  /** Intervals by collector; the others have their defaults. */
  readonly intervals?: Readonly<Record<string, string>>
}

/** Shorter than the defaults: the demo should react quickly. */
const QUICK = {
  reference: '2s',
  services: '2s',
  staking: '10s',
  native: '2s',
  keys: '5s',
  host: '5s',
  version: '5s',
} as const

/** The configuration of an agent that monitors the simulated node. */
export const renderConfig = (
  { prefix, rpcUrl, referenceUrl, nativeUrl, otelUrl, ownPublicKey, ...files }: NodeInfo,
  { directory, port, intervals = QUICK }: Settings,
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
    serveQuery: {
      store: join(directory, 'event-logs'),
      contracts: Object.values(TOKENS),
      fromBlock: files.firstServiceBlock,
    },
    rpc: { ...at['rpc'], url: rpcUrl },
    staking: {
      ...at['staking'],
      withdrawals: [0],
      expected: {
        beneficiary: beneficiaryOf(ownPublicKey),
        authorityBalance: 5,
      },
    },
    native: { ...at['native'], url: nativeUrl, fallbackUrl: otelUrl },
    traffic: { ...at['traffic'], url: otelUrl },
    host: { ...at['host'], ...files.host },
    version: { ...at['version'], forksFile: files.forksFile, rootDirectory: files.rootDirectory },
  })
}

/** Where `serve-query` listens by default. */
const SERVICE = 'http://127.0.0.1:8181'

interface Welcome {
  readonly scenario: string
  readonly port: number
  /** The requested port. */
  readonly wanted: number
  readonly description: string
  readonly logFile: string
  readonly config: string
  readonly node: NodeInfo
  readonly pid: number | undefined
  /** Whether a shell that uses the demo is opened. */
  readonly shell?: true
}

/** The output once node and agent run. */
export const renderWelcome = (welcome: Welcome): string => {
  const { scenario, description, port, logFile, config, node, pid, wanted, shell } = welcome
  const { firstServiceBlock: first } = node
  const agent = `http://127.0.0.1:${port}`
  return [
    `Scenario "${scenario}": ${description}`,
    ...(wanted === 0 || wanted === port ? [] : [`Port ${wanted} is in use; the agent listens on port ${port}.`]),
    '',
    `  page       ${agent}/`,
    `  metrics    ${agent}/metrics`,
    `  status     ${agent}/api/v1/status`,
    `  readiness  ${agent}/-/ready`,
    `  log        ${logFile}`,
    `  node       ${node.rpcUrl}, tools in ${node.binDirectory}`,
    `  pid        ${pid} is the node: kill it to see its metrics disappear`,
    '',
    ...(shell
      ? ['In this shell:', '']
      : [
          'In a second terminal:',
          '',
          `  export PATH=${shellQuote(node.binDirectory)}:$PATH`,
          `  export CHAIN_AGENT_CONFIG=${shellQuote(config)}`,
        ]),
    '  chain-agent check',
    '',
    'Event logs and token balances there:',
    '',
    '  chain-agent serve-query &',
    `  chain-agent balances --url ${SERVICE} --standard erc20 --token ${TOKENS.erc20} --created-in ${first}`,
    '',
    ...(shell ? [] : ['Press Ctrl-C to stop node and agent.', '']),
  ].join('\n')
}
