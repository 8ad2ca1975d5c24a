import { type Event, eventAsJson, isFirstReading } from '../../domain/event.ts'
import { toApiJson } from '../../core/json.ts'
import type { RecentRound } from '../../domain/round.ts'
import type { Tone } from '../../domain/health.ts'
import { isWatcher } from '../../health/facts.ts'
import type { LimitOf } from '../../health/rules/index.ts'
import type { Fact } from '../../health/sections/fact.ts'
import { createView, isInUse, reasonsOf, type Section, whyUnknown } from '../../health/sections/section.ts'
import { SECTIONS } from '../../health/sections/sections.ts'
import type { NodeSnapshot } from '../../health/snapshot.ts'
import type { Diagnosis } from '../../health/diagnosis.ts'
import type { OverviewResponse } from '../../parsers/agent-api.ts'
import { runbookPath } from './elements.ts'
import { type History, type KeyFigure, keyFigures } from './figures.ts'

/** What the status page is rendered from. */
export interface OverviewInput {
  readonly snapshot: NodeSnapshot
  /** The stored state changes, oldest first. */
  readonly events: readonly Event[]
  readonly history: History
  /** The newest rounds of the ledger stream, oldest first. */
  readonly rounds: readonly RecentRound[]
  readonly limitOf: LimitOf
  /** As the host itself reports it; null if it does not. */
  readonly hostName: string | null
}

interface OverviewSection {
  readonly name: string
  readonly summary: { readonly text: string | null; readonly tone: Tone | undefined }
  readonly groups: readonly {
    readonly source: string
    /** When the values were read, in milliseconds since the epoch; null if there is no reading. */
    readonly readAt: number | null
    readonly facts: readonly Fact[]
  }[]
  /** Why parts of it are unknown. */
  readonly unknownBecause: readonly string[]
}

/** The status of the node, in the order in which it is shown. */
export interface Overview {
  readonly at: number
  readonly hostName: string | null
  readonly version: string
  readonly diagnosis: Diagnosis
  /** Null on a watcher. */
  readonly rounds: readonly RecentRound[] | null
  /** Why the rounds do not reach the present; null if they do. */
  readonly roundsUnknownBecause: string | null
  readonly figures: readonly KeyFigure[]
  readonly sections: readonly OverviewSection[]
  /** The newest state changes but for first readings, newest first. */
  readonly events: readonly Event[]
}

/** The order for an operator with a problem: the services and what they do first, settings last. */
const ORDER = [
  'services',
  'consensus',
  'statesync',
  'peers',
  'rpc',
  'execution',
  'storage',
  'watched',
  'staking',
  'duties',
  'host',
  'keys',
]
const LAST = ['chain', 'versions', 'maintenance', 'header', 'config', 'alerts', 'agent']
const MAX_EVENTS = 50

export const createOverview = ({ snapshot, events, rounds, hostName, ...figures }: OverviewInput): Overview => {
  const view = createView(snapshot)
  const isWatching = isWatcher(view.known)
  return {
    at: snapshot.at,
    hostName: snapshot.readings.status?.header.hostname ?? hostName,
    version: snapshot.version,
    diagnosis: view.diagnosis,
    rounds: isWatching ? null : rounds,
    roundsUnknownBecause: whyUnknown(view.collector('ledger')),
    figures: keyFigures(view, figures).filter(({ value }) => value !== null || !isWatching),
    sections: SECTIONS.filter((section) => isInUse(section, view))
      .toSorted((a, b) => placeOf(a) - placeOf(b))
      .map((section) => {
        const { name, groups, summary } = section
        const found = summary?.(view)
        return {
          name: name.replace('{prefix}', view.prefix),
          summary: { text: found?.text ?? null, tone: found === null ? 'unknown' : found?.tone },
          groups: groups.flatMap((group) => {
            const facts = group.facts(view)
            const { collector, source } = group
            const hasReading = collector !== null && view.hasReading(collector)
            const readAt = hasReading ? (view.collector(collector)?.lastSuccessAt ?? null) : null
            return facts.length === 0 ? [] : [{ source, readAt, facts }]
          }),
          unknownBecause: reasonsOf(section, view),
        }
      }),
    events: events
      .filter((event) => !isFirstReading(event))
      .slice(-MAX_EVENTS)
      .toReversed(),
  }
}

/** A section that neither list names is between them. */
const placeOf = ({ name }: Section): number => {
  const [first, last] = [ORDER.indexOf(name), LAST.indexOf(name)]
  return first >= 0 ? first : ORDER.length + 1 + last
}

/** The title of the document: the host, whose beginning a narrow tab shows, and its state. */
export const titleOf = ({ diagnosis: { word }, hostName }: Overview): string =>
  `${hostName === null ? '' : `${hostName} · `}${word} · chain-agent`

const iso = (at: number): string => new Date(at).toISOString()

/** The body of /api/v1/overview: what the page at / shows. */
export const renderOverview = (overview: Overview): OverviewResponse => {
  const { at, hostName, version, diagnosis, rounds, roundsUnknownBecause, figures, sections, events } = overview
  const { word, sentence, exitCode, since, recovery, incident, causes } = diagnosis
  return {
    at: iso(at),
    version,
    hostName,
    verdict: { word, sentence, exitCode, since: iso(since) },
    recovery: { path: recovery.path, summary: recovery.summary, left: recovery.left },
    incident,
    findings: causes.map(({ explainedBy: _explainedBy, name, ...finding }) => ({
      name,
      ...finding,
      runbook: name.startsWith('Chain') ? runbookPath(name) : null,
    })),
    rounds: (rounds ?? []).map((round) => ({ ...round, round: round.round.toString(), at: iso(round.at) })),
    roundsUnknownBecause,
    figures: figures.map((figure) => ({ ...figure, tone: figure.tone ?? null })),
    sections: sections.map(({ name, summary, groups, unknownBecause }) => ({
      name,
      summary: summary.text,
      tone: summary.tone ?? null,
      unknownBecause,
      groups: groups.map(({ source, readAt, facts }) => ({
        source,
        readAt: readAt === null ? null : iso(readAt),
        facts: facts.map(({ label, text, value, tone }) => ({
          label,
          text,
          value: toApiJson(value),
          tone: tone ?? null,
        })),
      })),
    })),
    events: events.map(eventAsJson),
  }
}
