import { createServer } from 'node:http'
import type { HealthResponse, StatusResponse } from '../parsers/agent-api.ts'
import { readEventsQuery, renderEvents } from './api.ts'
import { addHeartbeats, type HeartbeatReceiver } from './heartbeats.ts'
import { oneAtATime } from './connections.ts'
import { listenOnSocket, type ListeningServer } from './listen.ts'
import { createRoutes, limited, type MonitoringView, OPTIONS, type Routes, serveRoutes } from './monitoring.ts'
import { addPages, type PagesView } from './page/routes.ts'
import type { Address, Web } from './web.ts'

export interface AgentView extends MonitoringView, PagesView {
  status(): StatusResponse
  health(): Promise<HealthResponse>
  readonly heartbeats: HeartbeatReceiver
}

const ADVICE = 'set another address with --listen HOST:PORT or `listen:` in the configuration'

/** Serves the view until closed. Throws a SourceError if it cannot listen on the address. */
export const serve = (view: AgentView, address: Address, web: Web): Promise<ListeningServer> =>
  serveRoutes(routesOf(view), { address, web }, ADVICE)

/**
 * Serves the view on a Unix socket, without TLS and passwords: the commands on this host have neither the password nor
 * the key of a client, and the permissions of the socket decide who may use it.
 */
export const serveOnSocket = (view: AgentView, path: string): Promise<Pick<ListeningServer, 'close'>> =>
  listenOnSocket(
    limited(createServer(OPTIONS, oneAtATime(routesOf(view).handler()))),
    path,
    'make state.directory writable for the agent; without this socket, commands such as `chain-agent status` cannot read from the agent',
  )

const routesOf = (view: AgentView): Routes => {
  const routes = createRoutes(view, {
    healthy: 'The agent is alive.',
    ready: 'Every collector has run once.',
    unknown: 'No such page; / lists the pages.',
  })
  addAgentRoutes(routes.add, view)
  return routes
}

/** Adds every page and endpoint of the agent. page/openapi.json describes those under /api/v1/. */
export const addAgentRoutes = (add: Routes['add'], view: AgentView): void => {
  addPages(add, view)
  add('/api/v1/status', (_request, response) => {
    response.json(view.status())
  })
  add('/api/v1/health', async (_request, response) => {
    response.json(await view.health())
  })
  add('/api/v1/events', async (request, response) => {
    const query = readEventsQuery(new URL(request.url, 'http://agent').searchParams)
    if (typeof query === 'string') response.status(400).type('text').send(`${query}\n`)
    else response.json(renderEvents(await view.events(), query))
  })
  addHeartbeats(add, view.heartbeats)
}
