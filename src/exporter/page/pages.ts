import { isAtLeast, SEVERITIES, type Event, type Severity } from '../../domain/event.ts'
import { html } from './html.ts'
import { renderDocument } from './layout.ts'
import { renderEvents } from './status.ts'

/** A page with more would be slow to read; /api/v1/events has all. */
const MAX_EVENTS = 500

/** The page at /events, of events with the oldest first. */
export const renderEventsPage = (version: string, events: readonly Event[], severity: Severity): string => {
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

/** The severity that a request filters by; undefined if it is invalid. */
export const readSeverity = (query: URLSearchParams): Severity | undefined => {
  const text = query.get('severity') ?? 'info'
  return SEVERITIES.find((one) => one === text)
}

/** The runbooks of the package. `Runbooks` of the sources is one. */
export interface RunbookSource {
  list(): Promise<readonly string[]>
  read(name: string, prefix: string): Promise<string>
}

const INDEX = 'index'

/**
 * Pages from docs/runbooks; `index` is the list of all. A file is read, and rendered, when it is requested first. `prefix`:
 * the current name prefix of units and tools. Undefined if there is no page of this name.
 */
export const createRunbookPages = (source: RunbookSource, version: string, prefix: () => string) => {
  let names: Promise<readonly string[]> | undefined
  const pages = new Map<string, Promise<string>>()

  const list = () =>
    (names ??= source.list().catch((error: unknown) => {
      names = undefined
      throw error
    }))
  const render = async (name: string): Promise<string> => {
    const [markdown, { renderMarkdown }] = await Promise.all([source.read(name, prefix()), import('./markdown.ts')])
    return renderDocument({
      title: `${name === INDEX ? 'Runbooks' : name} · chain-agent`,
      path: '/runbooks/',
      version,
      main: html`<div class="prose">${renderMarkdown(markdown, linkOf)}</div>`,
    })
  }
  return async (name: string): Promise<string | undefined> => {
    if (name !== INDEX && !(await list()).includes(name)) return undefined
    const key = `${prefix()} ${name}`
    const page =
      pages.get(key) ??
      render(name).catch((error: unknown) => {
        pages.delete(key)
        throw error
      })
    pages.set(key, page)
    return page
  }
}

/** Other pages of the documentation are not served. */
const linkOf = (target: string): string | undefined => {
  const [, name, section = ''] = /^(Chain\w+)\.md(#.*)?$/.exec(target) ?? []
  return name === undefined ? undefined : `/runbooks/${name}${section}`
}
