import { type EventsQuery, readEventsQuery } from './events-page.ts'
import { type Address, listenOn } from './listen.ts'
import { type MonitoringView, createRoutes } from './routes.ts'

/** What the agent's server exports. */
export interface AgentView extends MonitoringView {
  readonly version: string
  /** The body of /api/v1/status, to be sent as JSON. */
  status(): unknown
  /** The body of /api/v1/health. */
  health(): unknown
  /** The body of /api/v1/events. */
  events(query: EventsQuery): Promise<unknown>
}

const ADVICE = 'set another address with --listen HOST:PORT or `listen:` in the configuration'

/** Serves the view until closed. Throws a SourceError if it cannot listen on the address. */
export const serve = (view: AgentView, address: Address) => {
  const routes = createRoutes(view, {
    healthy: 'The agent is alive.',
    ready: 'Every collector has run once.',
    unknown: 'No such page; / lists the pages.',
  })
  routes.add('/', (_request, response) => {
    response.type('html').send(renderLandingPage(view.version))
  })
  routes.add('/api/v1/status', (_request, response) => {
    response.json(view.status())
  })
  routes.add('/api/v1/health', (_request, response) => {
    response.json(view.health())
  })
  routes.add('/api/v1/events', async (request, response) => {
    const query = readEventsQuery(new URL(request.url, 'http://agent').searchParams)
    if (typeof query === 'string') response.status(400).type('text').send(`${query}\n`)
    else response.json(await view.events(query))
  })
  return listenOn(routes.server(), address, ADVICE)
}

/** The page at `/`: the agent's version and its endpoints. Works without scripts or styles. */
const renderLandingPage = (version: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>chain-agent</title>
<body style="font: 1rem/1.6 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem">
<h1>chain-agent ${version}</h1>
<p>Monitors the node on this host. Requests for these pages cause no load on the node.</p>
<ul>
<li><a href="/metrics">/metrics</a>: all current metrics, for Prometheus
<li><a href="/api/v1/status">/api/v1/status</a>: the same as JSON, with the reason for each unknown value
<li><a href="/api/v1/health">/api/v1/health</a>: health of the node, with the alert rules that fire
<li><a href="/api/v1/events">/api/v1/events</a>: state changes with their times; <code>?since=</code> a time, <code>&amp;limit=</code> a number
<li><a href="/-/healthy">/-/healthy</a>: the agent is alive
<li><a href="/-/ready">/-/ready</a>: every collector has run once
</ul>
</html>
`
