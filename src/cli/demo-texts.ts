import { join } from 'node:path'
import { stringify } from 'yaml'
import { z } from 'zod'

/** Where the simulator says that its parts are: the line that `simulate --json` prints. */
export const placeSchema = z.object({
  rpcUrl: z.string(),
  referenceUrl: z.string(),
  nativeUrl: z.string(),
  otelUrl: z.string(),
  binDirectory: z.string(),
  ownPublicKey: z.string(),
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

/** The configuration of an agent that watches the simulated node. */
export const renderConfig = (
  { prefix, rpcUrl, referenceUrl, nativeUrl, otelUrl, ownPublicKey, ...files }: Place,
  { directory, port }: { readonly directory: string; readonly port: number },
): string =>
  stringify({
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
    rpc: { url: rpcUrl },
    // More often than on a host at work: a rehearsal should be quick to show.
    reference: { interval: '2s' },
    services: { interval: '2s' },
    native: { url: nativeUrl, fallbackUrl: otelUrl, interval: '2s' },
    keys: { interval: '5s' },
    host: { interval: '5s', ...files.host },
    version: { interval: '5s', forksFile: files.forksFile },
  })

interface Welcome {
  readonly scenario: string
  readonly port: number
  /** The port that was asked for. */
  readonly wanted: number
  readonly description: string
  readonly logFile: string
  readonly place: Place
  readonly pid: number | undefined
}

/** What the demo says when both run. */
export const renderWelcome = (welcome: Welcome): string => {
  const { scenario, description, port, logFile, place, pid, wanted } = welcome
  const agent = `http://127.0.0.1:${port}`
  return [
    `Scenario "${scenario}": ${description}`,
    ...(wanted === 0 || wanted === port ? [] : [`Port ${wanted} is taken; the agent has ${port}.`]),
    '',
    `  metrics    ${agent}/metrics`,
    `  status     ${agent}/api/v1/status`,
    `  readiness  ${agent}/-/ready`,
    `  log        ${logFile}`,
    `  node       ${place.rpcUrl}, tools in ${place.binDirectory}`,
    `  pid        ${pid} is the node: kill it, and see its values vanish`,
    '',
    'Ctrl-C ends both.',
    '',
  ].join('\n')
}
