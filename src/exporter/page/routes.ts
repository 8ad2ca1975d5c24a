import { type Event, isAtLeast, SEVERITIES, type Severity } from '../../domain/event.ts'
import { type Add, addAssets, type Body, bodyOf, pageAssets, sendBody, sendPage } from './document.ts'
import { html } from './html.ts'
import { renderDocument } from './layout.ts'
import type { StatusPage } from './page.ts'
import { renderEvents } from './status.ts'

/** What the pages show. None of the functions reads from the node. */
export interface PagesView {
  readonly version: string
  readonly page: StatusPage
  /** The runbooks of the package. */
  readonly runbooks: {
    list(): Promise<readonly string[]>
    read(name: string, prefix: string): Promise<string>
  }
  /** The name prefix of units and tools. */
  prefix(): string
  /** The stored state changes, oldest first. */
  events(): Promise<readonly Event[]>
}

export const addPages = (add: Add, view: PagesView): void => {
  const { version, page } = view
  const runbookPage = createRunbookPages(view)

  add('/', async (request, response) => {
    await sendPage(request, response, await page.document())
  })
  add('/events', async (request, response) => {
    const wanted = new URL(request.url, 'http://agent').searchParams.get('severity') ?? 'info'
    const severity = SEVERITIES.find((one) => one === wanted)
    if (severity === undefined) response.status(400).type('text').send(NO_SEVERITY)
    else await sendPage(request, response, bodyOf(renderEventsPage(version, await view.events(), severity)))
  })
  for (const path of ['/runbooks', '/runbooks/:name'])
    add(path, async (request, response) => {
      const body = await runbookPage(String(request.params['name'] ?? INDEX))
      if (body === undefined) response.status(404).type('text').send(NO_RUNBOOK)
      else await sendPage(request, response, body)
    })
  addAssets(add)

  const { openApi } = pageAssets()
  add(openApi.path, (request, response) => sendBody(request, response, openApi))
  add('/api/v1/overview', async (_request, response) => {
    response.json(await page.overview())
  })
}

const NO_SEVERITY = `severity: expected one of ${SEVERITIES.join(', ')}\n`
const NO_RUNBOOK = 'No such runbook; /runbooks/ lists them.\n'

/** A page with more would be slow to read; /api/v1/events has all. */
const MAX_EVENTS = 500

const renderEventsPage = (version: string, events: readonly Event[], severity: Severity): string => {
  const matching = events.filter((event) => isAtLeast(event.severity, severity))
  const shown = matching.slice(-MAX_EVENTS).toReversed()
  return renderDocument({
    title: 'Events · chain-agent',
    path: '/events',
    version,
    main: html`<h1>Events</h1>
      <p>
        State changes that the agent detected, newest first: ${shown.length} of ${matching.length} with this severity or
        a worse one. <a href="/api/v1/events">As JSON</a>, or <code>chain-agent events</code>.
      </p>
      <nav aria-label="Severity">
        <ul>
          ${SEVERITIES.map(
            (one) => html`<li><a href="/events?severity=${one}" ${one === severity ? CURRENT : null}>${one}</a></li>`,
          )}
        </ul>
      </nav>
      ${renderEvents(shown)}`,
  })
}

const CURRENT = html` aria-current="true"`

/** The list of all runbooks. */
const INDEX = 'index'

/** Pages from docs/runbooks. A file is read, and rendered, when it is requested first. Undefined if there is none of this name. */
const createRunbookPages = ({ runbooks, version, prefix }: PagesView) => {
  const pages = new Map<string, Body>()
  return async (name: string): Promise<Body | undefined> => {
    const key = `${prefix()} ${name}`
    const known = pages.get(key)
    if (known) return known
    if (name !== INDEX && !(await runbooks.list()).includes(name)) return undefined
    const [markdown, { renderMarkdown }] = await Promise.all([runbooks.read(name, prefix()), import('./markdown.ts')])
    const title = `${name === INDEX ? 'Runbooks' : name} · chain-agent`
    const main = html`<div class="prose">${renderMarkdown(markdown, linkOf)}</div>`
    const page = bodyOf(renderDocument({ title, path: '/runbooks/', version, main }))
    pages.set(key, page)
    return page
  }
}

/** Other pages of the documentation are not served. */
const linkOf = (target: string): string | undefined => {
  const [, name, section = ''] = /^(Chain\w+)\.md(#.*)?$/.exec(target) ?? []
  return name === undefined ? undefined : `/runbooks/${name}${section}`
}
