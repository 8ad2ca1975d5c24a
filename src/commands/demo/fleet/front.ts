import type { IncomingMessage } from 'node:http'
import { createExposition } from '../../../exporter/registry.ts'
import { openPort, type Port } from '../../../simulator/endpoints.ts'
import type { Member } from './member.ts'
import { describeFleet, targetsOf } from './texts.ts'

/** One port for what is of the whole fleet: who is there, and what the process needs. */
export const openFront = async (port: number, members: readonly Member[]): Promise<Port> => {
  const { render, contentType } = createExposition(() => undefined)
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
  /fleet.json  every node: its name, its fate, and where its metrics are
  /targets     the same for Prometheus, as http_sd_configs reads it
  /metrics     of this process, which all nodes and agents share
`
