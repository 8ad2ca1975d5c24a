import type { RuleFinding } from '../core/health.ts'
import { shortDuration } from '../core/format.ts'

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

/** The findings of the rules that count at `now`; of several severities about one subject only the worst. */
export const findingsOf = (findings: readonly RuleFinding[], now: number): readonly Finding[] => {
  const worst = new Map<string, Finding>()
  for (const { alert, countsAs, labels, since, summary, description, advice, explainedBy } of findings) {
    const key = `${alert} ${JSON.stringify(labels)}`
    const known = worst.get(key)
    if (countsAs === null || (known && rank(known.severity) <= rank(countsAs))) continue
    const lasted = now - since
    worst.set(key, {
      name: alert,
      severity: countsAs,
      summary: asPhrase(summary),
      evidence: [
        description,
        ...(lasted > 0 ? [`The condition has been true for ${shortDuration(lasted)}.`] : []),
        ...(explainedBy.length > 0 ? [`It is a consequence of ${explainedBy.join(', ')}.`] : []),
      ],
      advice,
    })
  }
  return [...worst.values()]
}

const SEVERITIES: readonly Severity[] = ['critical', 'unknown', 'warning', 'info']

/** 0 is the most severe. */
export const rank = (severity: Severity): number => SEVERITIES.indexOf(severity)

/** A sentence as it continues after a colon, without its full stop; an acronym keeps its capitals. */
const asPhrase = (sentence: string): string =>
  sentence.replace(/\.$/, '').replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase())
