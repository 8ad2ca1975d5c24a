import type { Clock } from '../../core/clock.ts'
import { shared } from '../../core/reload.ts'
import { second } from '../../core/units.ts'
import type { OverviewResponse } from '../../parsers/agent-api.ts'
import { bodyOf } from './document.ts'
import { timeText } from './elements.ts'
import { html } from './html.ts'
import { renderDocument } from './layout.ts'
import { createOverview, type Overview, type OverviewInput } from './overview.ts'
import { renderParts } from './status.ts'

export type StatusPage = ReturnType<typeof createStatusPage>

interface StatusPageOptions {
  readonly clock: Clock
  readonly version: string
  /** Reads what the agent has in memory. */
  readonly read: () => Promise<OverviewInput>
}

/** A state is rendered at most this often, for any number of viewers. */
const LIFETIME_MS = second

export const createStatusPage = ({ clock, version, read }: StatusPageOptions) => {
  const current = shared(
    async () => {
      const overview = createOverview(await read())
      let document: ReturnType<typeof documentOf> | undefined
      return { overview: overview.document, document: () => (document ??= documentOf(overview, version)) }
    },
    clock,
    LIFETIME_MS,
  )
  return {
    /** The document, at most a second old. */
    document: async () => (await current()).document(),
    /** The body of /api/v1/overview. */
    overview: async (): Promise<OverviewResponse> => (await current()).overview,
  }
}

const documentOf = (overview: Overview, version: string) => {
  const { at, document } = overview
  const { hostName, verdict } = document
  // The host, whose beginning a narrow tab shows, and its state.
  const title = `${hostName === null ? '' : `${hostName} · `}${verdict.word} · chain-agent`
  const main = html`${[...renderParts(overview)].map(([id, part]) => html`<section id="${id}">${part}</section> `)}`
  const live = html`<p id="live" role="region" aria-label="Time of the values">
    As of <time id="as-of" datetime="${new Date(at).toISOString()}">${timeText(at)}</time
    ><span id="connection" role="status">. Reload the page for newer values.</span>
  </p>`
  return bodyOf(renderDocument({ title, path: '/', version, icon: verdict.word, live, hasColumns: true, main }))
}
