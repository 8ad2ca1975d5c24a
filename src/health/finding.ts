import type { Readings } from '../collectors/index.ts'
import { joinList, shortDuration, withPrefix } from '../core/format.ts'
import type { FindingSeverity, RuleFinding } from '../core/health.ts'
import { LOG_PATTERNS } from '../parsers/log-patterns/list.ts'
import type { NodeSnapshot } from './snapshot.ts'

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
 * The findings of the rules that count: one for each alert, with all its subjects. Of several severities about
 * one subject only the worst counts.
 */
export const findingsOf = (findings: readonly RuleFinding[], snapshot: FindingContext): readonly Finding[] => {
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
  return [...byAlert.values()].flatMap((all) => all.slice(0, 1).map((first) => findingOf(first, all, snapshot)))
}

type FindingContext = Pick<NodeSnapshot, 'at' | 'prefix' | 'readings' | 'collectors'>

type CountedFinding = RuleFinding & { readonly countsAs: FindingSeverity }

const findingOf = (
  { alert, countsAs, summary, advice, explainedBy, state, for: pendingFor }: CountedFinding,
  all: readonly CountedFinding[],
  { at, prefix, readings, collectors }: FindingContext,
): Finding => {
  const subjects = all.map(subjectOf).filter((subject) => subject !== '')
  const lasted = at - Math.min(...all.map(({ since }) => since))
  const duration = lasted > 0 ? `has been true for ${shortDuration(lasted)}` : 'is true now'
  // The descriptions name the duration of the rule, which has not passed yet.
  const isPending = state === 'pending' && pendingFor > 0
  const pending = isPending ? `; after ${shortDuration(pendingFor)} the alert fires with this text:` : '.'
  const failed = all.flatMap(({ labels }) => collectors.filter(({ name }) => name === labels['collector']))
  const patterns = LOG_PATTERNS.filter(({ name }) => all.some(({ labels }) => labels['pattern'] === name))
  const errors = failed.flatMap(({ name, error }) => (error ? [{ name, ...error }] : []))
  return {
    name: alert,
    severity: countsAs,
    summary: [asPhrase(summary), ...(subjects.length === 0 ? [] : [joinList(limited(subjects))])].join(': '),
    evidence: [
      ...(lasted > 0 || isPending ? [`The condition ${duration}${pending}`] : []),
      ...limited(all.map(({ description }) => capital(description))),
      ...limited([...new Set(errors.map(({ name, message }) => `${name}: ${message.split('\n')[0]}`))]),
      ...limited(all.flatMap((one) => logLine(one, readings))),
      ...limited(patterns.map(({ name, meaning }) => `${name}: ${meaning}`)),
      ...(explainedBy.length > 0 ? [`It is a consequence of ${joinList(explainedBy)}.`] : []),
    ],
    advice: [
      ...new Set(errors.flatMap((error) => (error.advice === null ? [] : [`${capital(error.advice)}.`]))),
      ...patterns.map(({ advice: steps }) => steps),
      ...advice.map((step) => withPrefix(withLabels(step, all), prefix ?? 'chain')),
    ],
  }
}

/** The labels that name what it is about: service, device, fork … A state is not a subject. */
const subjectOf = ({ labels: { state: _state, ...labels } }: RuleFinding): string => Object.values(labels).join(' ')

/** Placeholders such as SERVICE, with the label of that name if all findings have the same. */
const withLabels = (step: string, all: readonly RuleFinding[]): string =>
  step.replaceAll(/\b[A-Z]{3,}\b/g, (word) => {
    const [value = word, ...others] = new Set(all.map(({ labels }) => labels[word.toLowerCase()]))
    return others.length === 0 ? value : word
  })

/** The log line that matched the pattern of the finding, if it is critical. */
const logLine = ({ labels: { service = '', pattern } }: RuleFinding, { logs }: Readings): readonly string[] =>
  pattern === undefined ? [] : (logs?.trouble?.[service] ?? []).filter((line) => line.startsWith(`${pattern}: `))

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

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
