import type { Clock } from '../../core/clock.ts'
import { second } from '../../core/units.ts'
import { type Body, bodyOf } from './document.ts'
import { timeText } from './elements.ts'
import { html } from './html.ts'
import { iconOf, renderDocument } from './layout.ts'
import { createOverview, type Overview, type OverviewInput, titleOf } from './overview.ts'
import { renderMain, renderParts } from './status.ts'
import { createStream, type PageState, type Stream } from './stream.ts'

/** The status page of a running agent. */
export interface StatusPage {
  /** The document, at most a second old. */
  document(): Promise<Body>
  overview(): Promise<Overview>
  readonly stream: Stream
}

interface StatusPageOptions {
  readonly clock: Clock
  readonly version: string
  /** Reads what the agent has in memory. */
  readonly read: () => Promise<OverviewInput>
  readonly complain: (error: Error) => void
}

/** A state is rendered at most this often, for any number of viewers. */
const LIFETIME_MS = second

interface Rendered {
  readonly at: number
  readonly overview: Overview
  readonly state: PageState
  document?: Promise<Body>
}

export const createStatusPage = ({ clock, version, read, complain }: StatusPageOptions): StatusPage => {
  const epoch = clock.now().toString(36)
  let last: Rendered | undefined
  let rendering: Promise<Rendered> | undefined

  const render = async (): Promise<Rendered> => {
    const overview = createOverview(await read())
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
      icon: iconOf(overview.diagnosis.word),
      parts,
    }
    last = { at: clock.elapsed(), overview, state }
    return last
  }
  const current = (): Promise<Rendered> => {
    if (last && clock.elapsed() - last.at < LIFETIME_MS) return Promise.resolve(last)
    return (rendering ??= render().finally(() => {
      rendering = undefined
    }))
  }

  const documentOf = ({ overview, state }: Rendered): Promise<Body> =>
    bodyOf(
      renderDocument({
        title: state.title,
        path: '/',
        version,
        icon: overview.diagnosis.word,
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
    document: async () => {
      const rendered = await current()
      return (rendered.document ??= documentOf(rendered))
    },
    overview: async () => (await current()).overview,
    stream: createStream({ clock, epoch, read: async () => (await current()).state, complain }),
  }
}
