import { type Event, eventAsJson, isFirstReading } from '../../domain/event.ts'
import { toApiJson } from '../../core/json.ts'
import type { RecentRound } from '../../domain/round.ts'
import { isWatcher } from '../../health/facts.ts'
import type { LimitOf } from '../../health/rules/index.ts'
import { createView, isInUse, reasonsOf, type Section, type View, whyUnknown } from '../../health/sections/section.ts'
import { SECTIONS } from '../../health/sections/sections.ts'
import type { NodeSnapshot } from '../../health/snapshot.ts'
import type { OverviewResponse } from '../../parsers/agent-api.ts'
import { runbookPath } from './elements.ts'
import { type History, keyFigures } from './figures.ts'

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

/** The status of the node, in the order in which it is shown. */
export interface Overview {
  readonly at: number
  /** When the state began. */
  readonly since: number
  /** The body of /api/v1/overview. */
  readonly document: OverviewResponse
  /** Null on a watcher. */
  readonly rounds: readonly RecentRound[] | null
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
  const { word, sentence, exitCode, since, recovery, incident, causes } = view.diagnosis
  const shownEvents = events
    .filter((event) => !isFirstReading(event))
    .slice(-MAX_EVENTS)
    .toReversed()
  const document: OverviewResponse = {
    at: iso(snapshot.at),
    version: snapshot.version,
    hostName: snapshot.readings.status?.header.hostname ?? hostName,
    verdict: { word, sentence, exitCode, since: iso(since) },
    recovery: { path: recovery.path, summary: recovery.summary, left: recovery.left },
    incident,
    findings: causes.map(({ explainedBy: _explainedBy, name, ...finding }) => ({
      name,
      ...finding,
      runbook: name.startsWith('Chain') ? runbookPath(name) : null,
    })),
    rounds: (isWatching ? [] : rounds).map((one) => ({ ...one, round: one.round.toString(), at: iso(one.at) })),
    roundsUnknownBecause: whyUnknown(view.collector('ledger')),
    figures: keyFigures(view, figures).filter(({ value }) => value !== null || !isWatching),
    sections: SECTIONS.filter((section) => isInUse(section, view))
      .toSorted((a, b) => placeOf(a) - placeOf(b))
      .map((section) => sectionOf(section, view)),
    events: shownEvents.map(eventAsJson),
  }
  return { at: snapshot.at, since, document, rounds: isWatching ? null : rounds, events: shownEvents }
}

const sectionOf = (section: Section, view: View): OverviewResponse['sections'][number] => {
  const found = section.summary?.(view)
  return {
    name: section.name.replace('{prefix}', view.prefix),
    summary: found?.text ?? null,
    tone: found === null ? 'unknown' : (found?.tone ?? null),
    unknownBecause: reasonsOf(section, view),
    groups: section.groups.flatMap(({ collector, source, facts: factsOf }) => {
      const hasReading = collector !== null && view.hasReading(collector)
      const readAt = hasReading ? (view.collector(collector)?.lastSuccessAt ?? null) : null
      const facts = factsOf(view).map(({ label, text, value, tone = null }) => {
        return { label, text, value: toApiJson(value), tone }
      })
      return facts.length === 0 ? [] : [{ source, readAt: readAt === null ? null : iso(readAt), facts }]
    }),
  }
}

/** A section that neither list names is between them. */
const placeOf = ({ name }: Section): number => {
  const [first, last] = [ORDER.indexOf(name), LAST.indexOf(name)]
  return first >= 0 ? first : ORDER.length + 1 + last
}

const iso = (at: number): string => new Date(at).toISOString()
