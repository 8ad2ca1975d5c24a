import { eventAsJson } from '../../domain/event.ts'
import { toApiJson } from '../../core/json.ts'
import type { OverviewResponse } from '../../parsers/agent-api.ts'
import type { Overview } from './overview.ts'
import { runbookPath } from './runbook-pages.ts'

const iso = (at: number): string => new Date(at).toISOString()

/** The body of /api/v1/overview: what the page at / shows. */
export const renderOverview = ({
  at,
  hostName,
  version,
  diagnosis,
  rounds,
  roundsUnknownBecause,
  figures,
  sections,
  events,
}: Overview): OverviewResponse => ({
  at: iso(at),
  version,
  hostName,
  verdict: {
    word: diagnosis.word,
    sentence: diagnosis.sentence,
    exitCode: diagnosis.exitCode,
    since: iso(diagnosis.since),
  },
  recovery: {
    path: diagnosis.recovery.path,
    summary: diagnosis.recovery.summary,
    left: diagnosis.recovery.left,
  },
  incident: diagnosis.incident,
  findings: diagnosis.causes.map(({ explainedBy: _explainedBy, name, ...finding }) => ({
    name,
    ...finding,
    runbook: name.startsWith('Chain') ? runbookPath(name) : null,
  })),
  rounds: (rounds ?? []).map(({ round, state, leader, at: seenAt, isOwn }) => ({
    round: round.toString(),
    state,
    leader,
    at: iso(seenAt),
    isOwn,
  })),
  roundsUnknownBecause,
  figures: figures.map(({ name, label, value, unknownBecause, limit, tone, history }) => ({
    name,
    label,
    value,
    unknownBecause,
    limit,
    tone: tone ?? null,
    history,
  })),
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
})
