import { consensusRules } from './consensus-rules.ts'
import { dutyRules } from './duty-rules.ts'
import { journalRules } from './journal-rules.ts'
import { type JournalRule, type RuleInput, type Severity, SEVERITIES } from './rule.ts'
import { serviceRules } from './service-rules.ts'

/** Every alert that can be evaluated from a recorded journal alone. */
export const JOURNAL_RULES: readonly JournalRule[] = [...serviceRules, ...consensusRules, ...dutyRules, ...journalRules]

/** The data that the other alert rules use and no journal has. */
export const NOT_EVALUATED =
  'the RPC, the references, key files, drives and clock of the host, peers, stake, and what ' +
  "only the node's own metrics report (state roots, execution lag, late votes)"

/** An alert that would have fired. Times are milliseconds since the epoch. */
export interface Firing {
  /** Null for an event without an alert: a reboot of the host, a gap in the recording. */
  readonly alert: string | null
  readonly severity: Severity
  readonly subject: string
  /** When the condition became true. */
  readonly beganAt: number
  /** When the alert would have fired. */
  readonly firedAt: number
  /** Null if it still fired at the end of the recording. */
  readonly endedAt: number | null
  /** Message at its worst time. */
  readonly says: string
}

export interface RuleEvaluator {
  /** Evaluates every rule at one time; times must increase. */
  evaluate(input: RuleInput): void
  /** Adds an event that no rule evaluates. */
  addEvent(event: Pick<Firing, 'severity' | 'beganAt' | 'endedAt' | 'says'>): void
  /** Ends everything that is active: nothing is recorded after this time. */
  reset(at: number): void
  /** Everything that fired, by the time at which it began. */
  firings(): readonly Firing[]
}

/** A rule whose condition is true, or that is kept firing. */
interface ActiveRule {
  readonly rule: JournalRule
  readonly subject: string
  readonly beganAt: number
  lastAt: number
  firedAt: number | null
  worst: number
  says: string
}

/** Evaluates rules at one time after another, as Prometheus does, with `for` and `keep_firing_for`. */
export const createRuleEvaluator = (rules: readonly JournalRule[] = JOURNAL_RULES): RuleEvaluator => {
  const active = new Map<string, ActiveRule>()
  /** `order` sorts firings that began at the same time: by the position of their rule, events first. */
  const ended: { readonly order: number; readonly firing: Firing }[] = []

  const end = (key: string, one: ActiveRule, endedAt: number | null): void => {
    active.delete(key)
    if (one.firedAt === null) return
    const { rule, subject, beganAt, firedAt, says } = one
    const { alert, severity } = rule
    const firing = { alert, severity, subject, beganAt, firedAt, endedAt, says }
    ended.push({ order: rules.indexOf(rule), firing })
  }

  const update = (rule: JournalRule, at: number, matches: ReturnType<JournalRule['find']>): void => {
    for (const { subject, value, says } of matches) {
      const key = keyOf(rule, subject)
      const before = active.get(key)
      const one = before ?? {
        rule,
        subject,
        beganAt: at,
        lastAt: at,
        firedAt: null,
        worst: value,
        says,
      }
      if (!before) active.set(key, one)
      one.lastAt = at
      if (value >= one.worst) {
        one.worst = value
        one.says = says
      }
      if (one.firedAt === null && at - one.beganAt >= (rule.for ?? 0)) one.firedAt = at
    }
  }

  return {
    evaluate: (input) => {
      const { at } = input
      for (const rule of rules) update(rule, at, rule.find(input))
      for (const [key, one] of active) {
        const keep = one.firedAt === null ? 0 : (one.rule.keep ?? 0)
        if (one.lastAt < at && at - one.lastAt >= keep) end(key, one, at)
      }
    },
    addEvent: (event) => {
      ended.push({
        order: -1,
        firing: { ...event, alert: null, subject: '', firedAt: event.beganAt },
      })
    },
    reset: (at) => {
      for (const [key, one] of active) end(key, one, at)
    },
    firings: () => {
      for (const [key, one] of active) end(key, one, null)
      return ended
        .toSorted(
          (a, b) =>
            a.firing.beganAt - b.firing.beganAt ||
            rank(a.firing.severity) - rank(b.firing.severity) ||
            a.order - b.order,
        )
        .map(({ firing }) => firing)
    },
  }
}

const keyOf = ({ alert, severity }: JournalRule, subject: string): string => `${alert} ${severity} ${subject}`

/** 0 is the most severe. */
export const rank = (severity: Severity): number => SEVERITIES.indexOf(severity)
