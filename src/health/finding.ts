import { joinList, shortDuration } from '../core/format.ts'
import type { FindingSeverity, RuleFinding } from '../core/health.ts'

/** `critical`: the node does not do its work, or will not soon. `unknown`: whether it does cannot be determined. */
export type Severity = 'critical' | 'unknown' | 'warning' | 'info'

/** A problem or notable state of the node or its host, as commands print it. */
export interface Finding {
  /** The alert for the same condition, which has a runbook; without one, words that begin with a small letter. */
  readonly name: string
  readonly severity: Severity
  /** One sentence without its full stop. The worst finding's sentence is that of the health verdict. */
  readonly summary: string
  /** The evidence, one fact each. */
  readonly evidence: readonly string[]
  /** What to do, one step each; commands are between backticks. */
  readonly advice: readonly string[]
}

/**
 * The findings of the rules that count at `now`: one for each alert, with all its subjects. Of several severities about
 * one subject only the worst counts.
 */
export const findingsOf = (findings: readonly RuleFinding[], now: number): readonly Finding[] => {
  const worst = new Map<string, CountedFinding>()
  for (const finding of findings) {
    const { alert, labels, countsAs } = finding
    const key = `${alert} ${JSON.stringify(labels)}`
    const known = worst.get(key)
    if (countsAs !== null && !(known && rank(known.countsAs) <= rank(countsAs)))
      worst.set(key, { ...finding, countsAs })
  }
  const byAlert = new Map<string, CountedFinding[]>()
  for (const finding of worst.values()) {
    const key = `${finding.alert} ${finding.countsAs}`
    byAlert.set(key, [...(byAlert.get(key) ?? []), finding])
  }
  return [...byAlert.values()].flatMap((all) => all.slice(0, 1).map((first) => findingOf(first, { all, now })))
}

type CountedFinding = RuleFinding & { readonly countsAs: FindingSeverity }

const findingOf = (
  { alert, countsAs, summary, advice, explainedBy }: CountedFinding,
  { all, now }: { readonly all: readonly CountedFinding[]; readonly now: number },
): Finding => {
  const subjects = all.map(({ labels }) => Object.values(labels).join(' ')).filter((subject) => subject !== '')
  const lasted = now - Math.min(...all.map(({ since }) => since))
  return {
    name: alert,
    severity: countsAs,
    summary: [asPhrase(summary), ...(subjects.length === 0 ? [] : [joinList(limited(subjects))])].join(': '),
    evidence: [
      ...limited(all.map(({ description }) => description)),
      ...(lasted > 0 ? [`The condition has been true for ${shortDuration(lasted)}.`] : []),
      ...(explainedBy.length > 0 ? [`It is a consequence of ${joinList(explainedBy)}.`] : []),
    ],
    advice,
  }
}

/** Subjects of one alert that are listed. */
const MAX_SUBJECTS = 5

const limited = (texts: readonly string[]): readonly string[] =>
  texts.length <= MAX_SUBJECTS ? texts : [...texts.slice(0, MAX_SUBJECTS), `${texts.length - MAX_SUBJECTS} more`]

const SEVERITIES: readonly Severity[] = ['critical', 'unknown', 'warning', 'info']

/** 0 is the most severe. */
export const rank = (severity: Severity): number => SEVERITIES.indexOf(severity)

/** A sentence as it continues after a colon, without its full stop; an acronym keeps its capitals. */
const asPhrase = (sentence: string): string =>
  sentence.replace(/\.$/, '').replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase())
