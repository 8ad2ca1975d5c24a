import type { Readings } from '../collectors/index.ts'
import { capital, joinList, shortDuration, withPrefix } from '../core/format.ts'
import { isolationOf } from './facts.ts'
import { second } from '../core/units.ts'
import type { FindingSeverity } from '../domain/health.ts'
import type { FindingResponse } from '../parsers/agent-api.ts'
import type { RuleFinding } from '../parsers/agent-status.ts'
import { LOG_PATTERNS } from '../parsers/log-patterns/list.ts'
import { isNotified } from './notifications.ts'
import { RULE_FILES } from './rules/index.ts'
import { addressOf, alertsOf, splitAddress } from './rules/rule.ts'
import type { NodeSnapshot } from './snapshot.ts'

/** `critical`: the node does not do its work, or will not soon. `unknown`: whether it does cannot be determined. */
export type Severity = FindingResponse['severity']

/**
 * A problem or notable state of the node or its host, as commands print it. Its name is the address of the alert for the same
 * condition; the summary of the first cause is the sentence of the diagnosis.
 */
export type Finding = Pick<FindingResponse, 'name' | 'severity' | 'summary' | 'evidence' | 'advice'>

/** A finding of the rules. */
export interface HealthFinding extends Omit<FindingResponse, 'runbook'> {
  /** The findings of which it is a consequence, by their names. */
  readonly explainedBy: readonly string[]
}

/** How severe a finding is together with what follows from it. */
export const weightOf = ({ severity, consequences }: Pick<HealthFinding, 'severity' | 'consequences'>): Severity =>
  [severity, ...consequences.map((one) => one.severity)].toSorted((a, b) => rank(a) - rank(b))[0] ?? severity

/** One fault is one finding: what follows from another one is listed there, at the first cause of both. */
export const underCauses = (findings: readonly HealthFinding[]): readonly HealthFinding[] => {
  // Of one name the first is the most severe.
  const byName = new Map(findings.toReversed().map((finding) => [finding.name, finding]))
  const causeOf = (finding: HealthFinding, seen: readonly string[] = []): HealthFinding => {
    const cause = finding.explainedBy
      .flatMap((name) => byName.get(name) ?? [])
      .find(({ name }) => name !== finding.name && !seen.includes(name))
    return cause === undefined ? finding : causeOf(cause, [...seen, finding.name])
  }
  const causes = new Map(findings.map((finding) => [finding, causeOf(finding)]))
  return findings
    .filter((finding) => causes.get(finding) === finding)
    .map((cause) => ({
      ...cause,
      consequences: findings
        .filter((finding) => finding !== cause && causes.get(finding) === cause)
        .map(({ name, severity, summary }) => ({ name, severity, summary }))
        .toSorted((a, b) => rank(a.severity) - rank(b.severity)),
    }))
    .toSorted((a, b) => rank(weightOf(a)) - rank(weightOf(b)) || Number(isOfAgent(a)) - Number(isOfAgent(b)))
}

/** The agent, and not the node or its host, has the problem: it comes after the faults of the node that weigh as much. */
const isOfAgent = ({ name }: Pick<Finding, 'name'>): boolean => name === RULES_FAILED || AGENT_ALERTS.has(name)
/** The name of the finding that rules could not be evaluated. */
export const RULES_FAILED = 'rules'
const AGENT_ALERTS: ReadonlySet<string> = new Set(
  alertsOf(RULE_FILES)
    .filter(({ component }) => component === 'agent')
    .map(addressOf),
)

/**
 * The findings of the rules that count, the most severe first: the rows of an alert with the same steps are one, with all
 * its subjects. Of several severities about one subject only the worst counts.
 */
export const findingsOf = (findings: readonly RuleFinding[], context: FindingContext): readonly HealthFinding[] => {
  const worst = new Map<string, CountedFinding>()
  for (const finding of findings) {
    const { alert, labels, countsAs, since } = finding
    if (countsAs === null) continue
    const key = `${alert} ${JSON.stringify(labels)}`
    const known = worst.get(key)
    // The condition of a lower severity began earlier.
    const began = Math.min(since, known?.began ?? since)
    const counted = known && rank(known.countsAs) <= rank(countsAs) ? known : { ...finding, countsAs }
    worst.set(key, { ...counted, began })
  }
  const byAlert = new Map<string, CountedFinding[]>()
  for (const finding of worst.values()) {
    const { alert, countsAs, advice, explainedBy } = finding
    const key = JSON.stringify([splitAddress(alert).alert, countsAs, advice, explainedBy])
    byAlert.set(key, [...(byAlert.get(key) ?? []), finding])
  }
  const groups = [...byAlert.values()].flatMap((all) => all.slice(0, 1).map((first) => ({ first, all })))
  /** Address of a row → the finding that has it. */
  const nameOf = new Map(groups.toReversed().flatMap(({ first, all }) => all.map(({ alert }) => [alert, first.alert])))
  return groups
    .map(({ first, all }) => findingOf(first, all, context))
    .map((finding) => ({ ...finding, explainedBy: finding.explainedBy.map((cause) => nameOf.get(cause) ?? cause) }))
}

interface FindingContext {
  readonly snapshot: Pick<NodeSnapshot, 'at' | 'known' | 'origin' | 'prefix' | 'readings' | 'collectors'>
  /** Whether the node needs a recovery: its steps are the advice, not those of single log lines. */
  readonly isRecovering: boolean
}

type CountedFinding = RuleFinding & {
  readonly countsAs: FindingSeverity
  /** When the first of its severities began, in milliseconds since the epoch. */
  readonly began: number
}

const findingOf = (
  { alert, severity, countsAs, advice, explainedBy, state, since, for: pendingFor }: CountedFinding,
  found: readonly CountedFinding[],
  { snapshot: { at, known, origin, prefix, readings, collectors }, isRecovering }: FindingContext,
): HealthFinding => {
  const all = found.filter((one) => !isRepeated(one, found, readings))
  // A single reading does not show how long a condition has lasted.
  const lasted = origin === 'agent' ? at - Math.min(...all.map(({ began }) => began)) : null
  const isPending = state === 'pending' && pendingFor > 0
  const failed = all.flatMap(({ labels }) => collectors.filter(({ name }) => name === labels['collector']))
  const patterns = LOG_PATTERNS.filter(({ name }) => all.some(({ labels }) => labels['pattern'] === name))
  const errors = failed.flatMap(({ name, error }) => (error ? [{ name, ...error }] : []))
  return {
    name: alert,
    severity: countsAs,
    summary: joinPhrases([...new Set(all.map((one) => one.summary))]),
    timing: timingOf(
      isNotified({ origin, readings }) ? VERBS[severity] : 'fires',
      lasted,
      isPending ? Math.max(second, since + pendingFor - at) : null,
    ),
    evidence: [
      // It is in the tense of an alert that fires: "has not been active for one minute".
      ...(isPending ? [] : limited(all.map(({ description }) => capital(description)))),
      ...limited([...new Set(errors.map(({ name, message }) => `${name}: ${message.split('\n')[0]}`))]),
      ...(WITHOUT_BLOCKS.includes(alert) ? isolationOf(known) : []),
      ...limited(all.flatMap((one) => logLine(one, readings))),
      ...limited(patterns.map(({ name, meaning }) => `${name}: ${meaning}`)),
    ],
    explainedBy,
    consequences: [],
    advice: [
      ...new Set(errors.flatMap((error) => (error.advice === null ? [] : [`${capital(error.advice)}.`]))),
      ...(isRecovering ? [] : patterns.map(({ advice: steps }) => steps)),
      ...advice.map((step) => withPrefix(withLabels(step, all), prefix ?? 'chain')),
    ],
  }
}

/** With an Alertmanager that accepts alerts. Without one an alert fires, and no one is notified. */
const VERBS: Readonly<Record<FindingSeverity, string>> = { critical: 'pages', warning: 'warns', info: 'is listed' }

/** `lasted` is null if it is unknown, and `firesIn`, the time until the alert fires, if it fires; both in milliseconds. */
const timingOf = (verb: string, lasted: number | null, firesIn: number | null): string | null => {
  const duration = lasted === null ? SINGLE_READING : lasted < SHORTEST ? 'Now' : `For ${shortDuration(lasted)}`
  if (firesIn !== null) {
    return `${duration}; ${verb} ${lasted === null ? 'after' : 'in'} ${shortDuration(firesIn)}.`
  }
  return lasted === null || lasted < SHORTEST ? null : `${duration}.`
}

const SINGLE_READING = 'In a single reading'
const SHORTEST = second

/** `bft is down` and `rpc is down` are `bft and rpc are down`. */
const joinPhrases = (phrases: readonly string[]): string => {
  const all = phrases.map((phrase) => phrase.split(' '))
  const [first = [], ...others] = all
  if (others.length === 0) return first.join(' ')
  const same = (wordOf: (words: readonly string[], index: number) => string | undefined, most: number): number => {
    let length = 0
    while (length < most && others.every((words) => wordOf(words, length) === wordOf(first, length))) length += 1
    return length
  }
  const shortest = Math.min(...all.map(({ length }) => length)) - 1
  const before = same((words, index) => words[index], shortest)
  const after = same((words, index) => words.at(-1 - index), shortest - before)
  const objects = all.map((words) => words.slice(before, words.length - after).join(' '))
  const rest = first.slice(first.length - after)
  if (before === 0 && rest[0] === 'is') rest[0] = 'are'
  return [...first.slice(0, before), joinList(limited(objects)), ...rest].join(' ')
}

/** Placeholders such as SERVICE, with the value of the label of that name in the first finding. */
const withLabels = (step: string, [first]: readonly RuleFinding[]): string =>
  step.replaceAll(/\b[A-Z]{3,}\b/g, (word) => first?.labels[word.toLowerCase()] ?? word)

/** The log line that matched the pattern of the finding, if it is critical. */
const logLine = ({ labels: { service = '', pattern } }: RuleFinding, { logs }: Readings): readonly string[] =>
  pattern === undefined ? [] : (logs?.trouble?.[service] ?? []).filter((line) => line.startsWith(`${pattern}: `))

/** Each panic matches this pattern, also one that has a pattern of its own, which says more. */
const EVERY_PANIC = 'panic'

const isRepeated = (one: RuleFinding, all: readonly RuleFinding[], readings: Readings): boolean => {
  const textOf = (finding: RuleFinding): string | undefined =>
    logLine(finding, readings)[0]?.slice(`${finding.labels['pattern']}: `.length)
  const text = one.labels['pattern'] === EVERY_PANIC ? textOf(one) : undefined
  return text !== undefined && all.some((other) => other !== one && textOf(other) === text)
}

/** Alerts of a node that has no new block. */
const WITHOUT_BLOCKS = ['ChainBlockStalled', 'ChainBlockStalled.deadlock']

/** Subjects of one alert that are listed. */
const MAX_SUBJECTS = 5

const limited = (texts: readonly string[]): readonly string[] =>
  texts.length <= MAX_SUBJECTS ? texts : [...texts.slice(0, MAX_SUBJECTS), `${texts.length - MAX_SUBJECTS} more`]

const SEVERITIES: readonly Severity[] = ['critical', 'unknown', 'warning', 'info']

/** 0 is the most severe. */
const rank = (severity: Severity): number => SEVERITIES.indexOf(severity)
