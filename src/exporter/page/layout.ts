import type { HealthStatus } from '../../domain/health.ts'
import { pageAssets } from './document.ts'
import { html, type Html } from './html.ts'

type Link = readonly [href: string, name: string]

/** What the pages of one process have in common. */
interface Site {
  readonly pages: readonly Link[]
  /** What the pages show, after the name and the version. */
  readonly note: string
  readonly data: readonly Link[]
}

const PROBES: readonly Link[] = [
  ['/-/healthy', 'Liveness'],
  ['/-/ready', 'Readiness'],
]

const AGENT: Site = {
  pages: [
    ['/', 'Status'],
    ['/events', 'Events'],
    ['/runbooks/', 'Runbooks'],
  ],
  note: 'Pages show what the agent has read already: a request causes no load on the node.',
  data: [
    ['/metrics', 'Prometheus metrics'],
    ['/api/v1/overview', 'This status as JSON'],
    ['/api/v1/status', 'Readings as JSON'],
    ['/api/v1/health', 'Alert rules as JSON'],
    ...PROBES,
  ],
}

export const QUERY_SERVICE: Site = {
  pages: [['/', 'Query service']],
  note: 'This page shows the values of /metrics: a request causes no load on the node or the store.',
  data: [['/metrics', 'Prometheus metrics'], ...PROBES],
}

interface PageOptions {
  readonly title: string
  /** The path of the page, which the navigation marks. */
  readonly path: string
  readonly version: string
  readonly icon?: HealthStatus
  /** What the script needs to follow changes, if the page has any. */
  readonly live?: Html
  /** By default, the agent. */
  readonly site?: Site
  /** Whether the sections are in columns on a wide screen. */
  readonly hasColumns?: boolean
  readonly main: Html
}

export const renderDocument = (options: PageOptions): string => {
  const { title, path, version, icon, live, site = AGENT, hasColumns = false, main } = options
  const { style, script } = pageAssets()
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="icon" id="icon" href="${iconOf(icon)}" />
        <link rel="stylesheet" href="${style.path}" />
        <script src="${script.path}" defer></script>
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header>
          <p class="product">chain-agent</p>
          <nav aria-label="Pages">
            <ul>
              ${site.pages.map(
                ([href, name]) => html`<li><a href="${href}" ${href === path ? CURRENT : null}>${name}</a></li>`,
              )}
            </ul>
          </nav>
        </header>
        ${live}
        <main id="main" tabindex="-1" ${hasColumns ? COLUMNS : null}>${main}</main>
        <footer>
          <p>chain-agent ${version}. ${site.note}</p>
          <nav aria-label="Data">
            <ul>
              ${site.data.map(([href, name]) => html`<li><a href="${href}">${name}</a></li>`)}
            </ul>
          </nav>
        </footer>
      </body>
    </html> `.toString()
}

const CURRENT = html` aria-current="page"`
const COLUMNS = html` class="status"`

const SHAPES: Readonly<Record<HealthStatus, readonly [colour: string, path: string]>> = {
  OK: ['1a7f37', 'M4 8.5l3 3 5.5-7'],
  WARNING: ['9a6700', 'M8 3.5v5.5M8 11.5v1'],
  CRITICAL: ['cf222e', 'M4.5 4.5l7 7m0-7l-7 7'],
  UNKNOWN: ['8250df', 'M5.5 6q0-2.5 2.5-2.5t2.5 2.5q0 1.5-2.5 2.5v1m0 2v1'],
  MAINTENANCE: ['0969da', 'M6 4.5v7m4-7v7'],
}

/** An icon for the tab of the browser: colour and shape of the state. */
const iconOf = (status: HealthStatus | undefined): string => {
  const [colour, path] = status === undefined ? (['57606a', 'M4 8h8'] as const) : SHAPES[status]
  return (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='8' cy='8' r='8' " +
    `fill='%23${colour}'/%3E%3Cpath d='${path}' stroke='white' stroke-width='2' fill='none'/%3E%3C/svg%3E`
  )
}
