import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { parseDocument } from 'yaml'
import { z } from 'zod'
import { packageFile } from '../../../../src/core/package.ts'
import { createExposition } from '../../../../src/exporter/exposition.ts'
import { openPort, type Port } from '../../../endpoints.ts'
import type { Member } from './member.ts'

/** Serves the list of nodes and the metrics of the process on one port. */
export const serveFleet = async (port: number, members: readonly Member[]): Promise<Port> => {
  const { render, contentType } = createExposition(() => undefined, { catalogue: {} })
  const json = (value: unknown) => ({
    type: 'application/json',
    text: `${JSON.stringify(value, null, 2)}\n`,
  })
  const pageOf = async ({ method, url }: IncomingMessage) => {
    if (method !== 'GET') return undefined
    if (url === '/metrics') return { type: contentType, text: await render([]) }
    if (url === '/fleet.json') return json(describeFleet(members))
    if (url === '/targets') return json(targetsOf(members))
    return url === '/' ? { type: 'text/plain', text: LIST } : undefined
  }
  return await openPort(port, (request, response) => {
    pageOf(request)
      .then((page) => {
        if (page) response.writeHead(200, { 'content-type': page.type }).end(page.text)
        else response.writeHead(404).end()
      })
      .catch(() => response.destroy())
  })
}

const LIST = `A simulated fleet.
  /fleet.json  name, profile and metrics URL of every node
  /targets     the targets for http_sd_configs of Prometheus
  /metrics     metrics of this process, which all nodes and agents share
`

/** The nodes of the fleet and their profiles: what a dashboard should show. */
const describeFleet = (members: readonly Member[]) =>
  members.map(({ name, profile, port, publicKey }) => ({
    name,
    profile: profile.name,
    description: profile.description,
    publicKey,
    metrics: `http://127.0.0.1:${port}/metrics`,
  }))

/** The targets in the format of Prometheus' file_sd and http_sd. */
export const targetsOf = (members: readonly Member[]) =>
  members.map(({ name, port }) => ({
    targets: [`127.0.0.1:${port}`],
    labels: { node: name, cluster: 'simulated' },
  }))

interface ScrapeConfigOptions {
  readonly targetsFile: string
  /** URL of the fleet's own server. */
  readonly serverUrl: string
}

const schema = z.object({ scrape_configs: z.array(z.looseObject({ job_name: z.string() })) })

/**
 * `deploy/prometheus/fleet.yml` with the targets and rules of this fleet, with this process as one more target, and
 * without an Alertmanager: a simulation must not notify anyone.
 */
export const readScrapeConfig = async ({ targetsFile, serverUrl }: ScrapeConfigOptions): Promise<string> => {
  const document = parseDocument(await readFile(packageFile('deploy/prometheus/fleet.yml'), 'utf8'))
  const jobs = schema.parse(document.toJS()).scrape_configs.map(({ job_name: job }) => job)
  document.set('rule_files', [packageFile('alerts/*.rules.yaml')])
  document.delete('alerting')
  const ours = ['scrape_configs', jobs.indexOf('chain-agent')]
  document.setIn([...ours, 'file_sd_configs'], [{ files: [targetsFile] }])
  document.addIn(['scrape_configs'], {
    job_name: 'chain-fleet',
    static_configs: [{ targets: [new URL(serverUrl).host] }],
  })
  return document.toString()
}
