import type { Clock } from '../../core/clock.ts'
import { second } from '../../core/units.ts'
import type { OverviewResponse } from '../../parsers/agent-api.ts'
import { type Body, bodyOf } from './assets.ts'
import { timeText } from './elements.ts'
import { html } from './html.ts'
import { iconOf, renderDocument } from './layout.ts'
import { createOverview, type Overview, type OverviewInput, titleOf } from './overview.ts'
import { renderMain, renderParts } from './status.ts'
import { createStream, type PageState } from './stream.ts'

export type StatusPage = ReturnType<typeof createStatusPage>

interface StatusPageOptions {
  readonly clock: Clock
  readonly version: string
  /** Reads what the agent has in memory; the rules were evaluated at most `rulesAge` milliseconds ago. */
  readonly read: (rulesAge: number) => Promise<OverviewInput>
  readonly complain: (error: Error) => void
}

/** A state is rendered at most this often, for any number of viewers. */
const LIFETIME_MS = second
/** To evaluate the rules is half of the CPU time of a state. A change of a collector causes an evaluation in any case. */
const VIEWER_RULES_AGE_MS = 5 * second

interface Rendered {
  readonly at: number
  readonly rulesAge: number
  readonly overview: Overview
  readonly state: PageState
  document?: Body
}

export const createStatusPage = ({ clock, version, read, complain }: StatusPageOptions) => {
  const epoch = clock.now().toString(36)
  let last: Rendered | undefined
  /** Those in progress, by the age of the rules. */
  const rendering = new Map<number, Promise<Rendered>>()

  const render = async (rulesAge: number): Promise<Rendered> => {
    const overview = createOverview(await read(rulesAge))
    const before = last?.state
    const next = (before?.version ?? 0) + 1
    const parts = new Map(
      [...renderParts(overview)].map(([id, part]) => {
        const text = part.toString()
        const known = before?.parts.get(id)
        return [id, known?.html === text ? known : { html: text, changedIn: next }]
      }),
    )
    const isChanged = [...parts.values()].some(({ changedIn }) => changedIn === next)
    const state = {
      at: overview.at,
      version: isChanged ? next : (before?.version ?? 0),
      title: titleOf(overview),
      icon: iconOf(overview.document.verdict.word),
      parts,
    }
    last = { at: clock.elapsed(), rulesAge, overview, state }
    return last
  }
  /** A state whose rules were evaluated for it serves requests and viewers. */
  const current = (rulesAge = 0): Promise<Rendered> => {
    if (last && last.rulesAge <= rulesAge && clock.elapsed() - last.at < LIFETIME_MS) return Promise.resolve(last)
    const running = rendering.get(0) ?? rendering.get(rulesAge)
    if (running) return running
    const started = render(rulesAge).finally(() => rendering.delete(rulesAge))
    rendering.set(rulesAge, started)
    return started
  }

  const documentOf = ({ overview, state }: Rendered): Body =>
    bodyOf(
      renderDocument({
        title: state.title,
        path: '/',
        version,
        icon: overview.document.verdict.word,
        live: html`<p
          id="live"
          role="region"
          aria-label="Time of the values"
          data-id="${epoch}-${state.version}"
          data-at="${state.at}"
        >
          As of <time id="as-of" datetime="${new Date(state.at).toISOString()}">${timeText(state.at)}</time
          ><span id="connection" role="status">. Reload the page for newer values.</span>
        </p>`,
        hasColumns: true,
        main: renderMain(renderParts(overview)),
      }),
    )

  return {
    /** The document, at most a second old. */
    document: async (): Promise<Body> => {
      const rendered = await current()
      return (rendered.document ??= documentOf(rendered))
    },
    /** The body of /api/v1/overview. */
    overview: async (): Promise<OverviewResponse> => (await current()).overview.document,
    stream: createStream({ clock, epoch, read: async () => (await current(VIEWER_RULES_AGE_MS)).state, complain }),
  }
}
