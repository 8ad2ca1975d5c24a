import { type EventsQuery, readEventsQuery } from './events-page.ts'
import { renderLandingPage } from './landing-page.ts'
import { type Address, listenOn } from './listening.ts'
import { type CommonView, createPages } from './pages.ts'

/** What the server of the agent shows. */
export interface View extends CommonView {
  readonly version: string
  /** The body of /api/v1/status, to be sent as JSON. */
  status(): unknown
  /** The body of /api/v1/events. */
  events(query: EventsQuery): Promise<unknown>
}

const ADVICE = 'set another address with --listen HOST:PORT or `listen:` in the configuration'

/** Serves the view until closed. Throws a SourceError when the address cannot be listened on. */
export const serve = (view: View, address: Address) => {
  const pages = createPages(view, {
    healthy: 'The agent is alive.',
    ready: 'Every collector has tried once.',
    unknown: 'No such page; / lists what there is.',
  })
  pages.add('/', (_request, response) => {
    response.type('html').send(renderLandingPage(view.version))
  })
  pages.add('/api/v1/status', (_request, response) => {
    response.json(view.status())
  })
  pages.add('/api/v1/events', async (request, response) => {
    const query = readEventsQuery(new URL(request.url, 'http://agent').searchParams)
    if (typeof query === 'string') response.status(400).type('text').send(`${query}\n`)
    else response.json(await view.events(query))
  })
  return listenOn(pages.server(), address, ADVICE)
}
