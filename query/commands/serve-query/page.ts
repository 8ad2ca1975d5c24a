import { count, duration, figure, size, share } from '../../../src/core/format.ts'
import type { HealthStatus, Tone } from '../../../src/domain/health.ts'
import { second } from '../../../src/core/units.ts'
import type { ExposedValue } from '../../../src/exporter/exposition.ts'
import { html, type Html } from '../../../src/exporter/page/html.ts'
import { QUERY_SERVICE, renderDocument } from '../../../src/exporter/page/layout.ts'
import { renderFact, renderFigure, renderHeadline, time, timeText } from '../../../src/exporter/page/elements.ts'
import type { IngestPhase } from '../../service/ingest/writer.ts'
import { recentNodeHeight, type ServiceState } from './status.ts'

interface ServicePage {
  readonly version: string
  /** In milliseconds since the epoch. */
  readonly now: number
  readonly service: ServiceState
  /** What /metrics exports: the requests, and the start of the process. */
  readonly values: readonly ExposedValue[]
  /** What the service waits for; ready if empty. */
  readonly waitingFor: readonly string[]
  /** When the backfill will be complete, in milliseconds since the epoch; null is unknown. */
  readonly backfillEndsAt: number | null
}

interface Phase {
  readonly word: string
  readonly sentence: string
  readonly tone: Tone
  readonly icon?: HealthStatus
}

const PHASES: Readonly<Record<IngestPhase, Phase>> = {
  starting: { word: 'STARTING', sentence: 'the ingest has not started.', tone: 'unknown', icon: 'UNKNOWN' },
  backfill: { word: 'BACKFILL', sentence: 'blocks that the node already has are being indexed.', tone: 'quiet' },
  tail: { word: 'FOLLOWING', sentence: 'new blocks of the node are indexed as they come.', tone: 'good', icon: 'OK' },
  waiting: {
    word: 'WAITING',
    sentence: 'the node is behind, does not respond, or returns incomplete blocks.',
    tone: 'notice',
    icon: 'WARNING',
  },
  incomplete: {
    word: 'INCOMPLETE',
    sentence: 'the node returns the next block without its logs. The blocks before it are served.',
    tone: 'bad',
    icon: 'CRITICAL',
  },
  stopped: {
    word: 'STOPPED',
    sentence: 'the ingest has stopped and queries are rejected. The log has the reason.',
    tone: 'bad',
    icon: 'CRITICAL',
  },
}

/** The page at / of the query service: the values of /metrics, for people. */
export const renderServicePage = ({
  version,
  now,
  service,
  values,
  waitingFor,
  backfillEndsAt,
}: ServicePage): string => {
  const { phase = 'starting', blocks, logs, errors = {} } = service.state ?? {}
  const { word, sentence, tone, icon } = PHASES[phase]
  const startedAt = values.find(({ name }) => name === 'process_start_time_seconds')?.value
  return renderDocument({
    title: `${word} · chain-agent query service`,
    path: '/',
    version,
    site: QUERY_SERVICE,
    hasColumns: true,
    ...(icon && { icon }),
    main: html`<section id="state">
        ${renderHeadline(tone, word, sentence)}
        <p>${waitingFor.length === 0 ? 'Ready.' : `Not ready: waiting for ${waitingFor.join(', ')}.`}</p>
        <p class="note">As of ${time(now)}. Reload the page for newer values.</p>
      </section>
      <section id="figures">
        <h2>Key figures</h2>
        <ul class="figures">
          ${figuresOf(service, { now, endsAt: phase === 'backfill' ? backfillEndsAt : undefined })}
        </ul>
      </section>
      <section id="requests">
        <h2>Requests</h2>
        <p class="note">
          By path and status code, since the process
          started${startedAt === undefined ? null : html` at ${time(startedAt * second)}`}.
        </p>
        <dl>${requestsOf(values)}</dl>
      </section>
      <section id="ingest">
        <h2>Ingest</h2>
        <p class="note">Since the process started.</p>
        <dl>
          ${numberFact('Blocks indexed', blocks)} ${numberFact('Logs indexed', logs)}
          ${Object.entries<number>(errors).map(([kind, value]) => numberFact(`Errors: ${kind}`, value, 'notice'))}
        </dl>
      </section>`,
  })
}

/** `endsAt` is undefined outside of a backfill. */
const figuresOf = (
  { state, size: measured, limitBytes }: ServiceState,
  { now, endsAt }: { readonly now: number; readonly endsAt: number | null | undefined },
): readonly Html[] => {
  const { first = null, indexed: height = null, indexedTimestamp: timestamp = null } = state ?? {}
  const nodeHeight = recentNodeHeight(state, now)
  const noBlock = 'no block is indexed yet'
  const noNode = 'the node has not reported its finalized block in the last minute'
  const notMeasured = 'the store has not been measured yet'
  const missing = height === null ? noBlock : noNode
  const behind = height === null || nodeHeight === null ? undefined : Math.max(0, nodeHeight - height)
  const indexed = height === null || first === null ? undefined : height - first + 1
  const range = indexed === undefined || behind === undefined ? undefined : { indexed, total: indexed + behind }
  return [
    renderOne('Progress', range && share(range.indexed / range.total), {
      because: missing,
      note: range && `${figure(range.indexed)} of ${count(range.total, 'block')}`,
    }),
    ...(endsAt === undefined
      ? []
      : [
          renderOne('Estimated end of the backfill', endsAt === null ? undefined : `in ${duration(endsAt - now)}`, {
            because: 'requires 10 s in which the distance to the node decreases',
            note: endsAt === null ? undefined : timeText(endsAt),
          }),
        ]),
    renderOne('Height', numberText(height), {
      because: noBlock,
      note: first === null ? undefined : `from block ${figure(first)}`,
    }),
    renderOne('Height of the node', numberText(nodeHeight), { because: noNode }),
    renderOne('Behind the node', behind === undefined ? undefined : count(behind, 'block'), { because: missing }),
    renderOne(
      'Age of the newest indexed block',
      timestamp === null ? undefined : duration(Math.max(0, now - timestamp * second)),
      { because: height === null ? noBlock : 'no block was indexed since the process started' },
    ),
    renderOne('Store size', measured === null ? undefined : size(measured.bytes), {
      because: notMeasured,
      note: limitBytes === null ? 'not limited by size' : `limit ${size(limitBytes)}`,
    }),
    renderOne('Logs in the store', numberText(measured?.logs), { because: notMeasured }),
  ]
}

const numberText = (value: number | null | undefined): string | undefined =>
  typeof value === 'number' ? figure(value) : undefined

/** `because`: why it is unknown. */
const renderOne = (
  label: string,
  value: string | undefined,
  { because, note }: { readonly because: string; readonly note?: string | undefined },
): Html => {
  const isKnown = value !== undefined
  return renderFigure({
    label,
    value: value ?? null,
    unknownBecause: isKnown ? null : because,
    limit: note ?? null,
    tone: isKnown ? undefined : 'unknown',
    history: null,
  })
}

/** A counter; `tone` applies if it is not 0. */
const numberFact = (label: string, value: number | undefined, tone?: Tone): Html =>
  renderFact({
    label,
    text: numberText(value) ?? 'unknown',
    tone: value === undefined ? 'unknown' : value > 0 ? tone : undefined,
  })

const requestsOf = (values: readonly ExposedValue[]): readonly Html[] =>
  values
    .filter(({ name }) => name === 'chain_query_service_requests_total')
    .map(({ labels: { path = '', code = '' }, value }) => ({ label: `${path} ${code}`, code, value }))
    .toSorted((a, b) => (a.label < b.label ? -1 : 1))
    .map(({ label, code, value }) => numberFact(label, value, code >= '500' ? 'notice' : undefined))
