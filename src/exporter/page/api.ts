import { eventAsJson } from '../../core/event.ts'
import { toApiJson } from '../../core/json.ts'
import type { OverviewResponse } from '../../parsers/agent-api.ts'
import type { Overview } from './overview.ts'

const iso = (at: number): string => new Date(at).toISOString()

/** The body of /api/v1/overview: what the page at / shows. */
export const renderOverview = ({
  at,
  hostName,
  version,
  verdict,
  since,
  figures,
  sections,
  events,
}: Overview): OverviewResponse => ({
  at: iso(at),
  version,
  hostName,
  verdict: { word: verdict.word, sentence: verdict.sentence, exitCode: verdict.exitCode, since: iso(since) },
  findings: verdict.findings.map(({ name, severity, summary, evidence, advice }) => ({
    name,
    severity,
    summary,
    evidence,
    advice,
    runbook: name.startsWith('Chain') ? `/runbooks/${name}` : null,
  })),
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
