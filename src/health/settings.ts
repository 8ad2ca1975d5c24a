import { z } from 'zod'
import { closestMatch } from '../core/suggest.ts'
import { NODE_ROLES } from './role.ts'
import { DEFAULT_TUNING, RULE_FILES, type RuleTuning } from './rules/index.ts'
import { expressionOf } from './rules/render.ts'
import { addressOf, type AlertRow, alertsOf, type RuleSeverity } from './rules/rule.ts'

/** Settings as the operator writes them: address of a rule → setting → `25ms`, `90%`, `450`. */
export type WrittenLimits = Readonly<Record<string, Readonly<Record<string, string | number>>>>

export interface TuningProblem {
  /** The rule and, if the problem is in one of them, the setting. */
  readonly path: readonly string[]
  /** `expected …` */
  readonly message: string
}

const ROWS = alertsOf(RULE_FILES)
const ADDRESSES: readonly string[] = [...new Set(ROWS.flatMap((row) => [row.alert, addressOf(row)]))]

/** Reads the settings of rules, in the units of their metrics, and checks them with the rules. */
export const readLimits = (
  written: WrittenLimits,
): { readonly limits: Readonly<Record<string, RuleTuning>>; readonly problems: readonly TuningProblem[] } => {
  const problems: TuningProblem[] = []
  const limits: Record<string, RuleTuning> = {}
  for (const [alert, settings] of Object.entries(written)) {
    const problem = limitProblem(alert)
    if (problem !== undefined) {
      problems.push({ path: [alert], message: problem })
      continue
    }
    for (const [name, value] of Object.entries(settings)) {
      try {
        limits[alert] = { ...limits[alert], ...readSetting(alert, name, value) }
      } catch (error) {
        if (!(error instanceof Unexpected)) throw error
        problems.push({ path: [alert, name], message: error.message })
      }
    }
    const reversed = reversedLimits(alert, limits[alert] ?? {})
    if (reversed !== undefined) problems.push({ path: [alert], message: reversed })
  }
  return { limits, problems }
}

/** What is wrong with the name or the address of an alert; undefined if it has a rule. */
export const alertProblem = (address: string): string | undefined =>
  ADDRESSES.includes(address) ? undefined : `expected the name of an alert${suggestion(address, ADDRESSES)}`

/** A limit belongs to one row. */
const limitProblem = (address: string): string | undefined => {
  const problem = alertProblem(address)
  if (problem !== undefined || ROWS.some((row) => addressOf(row) === address)) return problem
  const rows = ROWS.filter((row) => row.alert === address && settingsOf(addressOf(row)).size > 0)
  return `expected one of ${[...new Set(rows.map(addressOf))].join(', ')}: each has limits of its own`
}

const suggestion = (word: string, candidates: readonly string[]): string => {
  const candidate = closestMatch(word, candidates)
  return candidate === undefined ? '' : ` (did you mean ${candidate}?)`
}

/** A value that a rule does not accept; the message is what was expected. */
class Unexpected extends Error {
  constructor(expected: string) {
    super(`expected ${expected}`)
  }
}

/** The settings of an address: the level of each limit, and null for the duration. */
const settingsOf = (address: string): ReadonlyMap<string, Level | null> => {
  const rows = ROWS.filter((row) => addressOf(row) === address)
  const levels = rows.flatMap(levelsWithLimit)
  const limited = ['limit', 'warning', 'critical'].flatMap((name) => {
    const [level, ...others] = levels.filter(({ severity }) => name === 'limit' || severity === name)
    return level && others.length === 0 ? [[name, level] as const] : []
  })
  return new Map([...limited, ...rows.flatMap((row) => (row.for === undefined ? [] : [['for', null] as const]))])
}

const readSetting = (alert: string, name: string, value: string | number): RuleTuning => {
  const settings = settingsOf(alert)
  const level = settings.get(name)
  if (level) return { [name]: readLimit(level, value) }
  if (level === null) return { for: readDuration(String(value)) }
  if (settings.size === 0) throw new Unexpected(`no setting: ${alert} has none`)
  const names = [...settings.keys()]
  throw new Unexpected(`${names.join(', ')} of ${alert}${suggestion(name, names)}`)
}

interface Level {
  readonly row: AlertRow
  readonly severity: RuleSeverity
  readonly limit: number
}

const levelsWithLimit = (row: AlertRow): readonly Level[] =>
  [
    { row, severity: row.severity, limit: row.limit },
    { row, severity: 'critical' as const, limit: row.critical?.limit },
  ].flatMap(({ limit, ...level }) => (limit === undefined ? [] : [{ ...level, limit }]))

const readDuration = (text: string): string => {
  if (/^(?=\d)(?:\d+d)?(?:\d+h)?(?:\d+m)?(?:\d+s)?$/.test(text)) return text
  throw new Unexpected('a duration in whole numbers, like 30s, 5m or 1h30m')
}

/** Factors to the unit of the metric, and an example. */
const UNITS = {
  seconds: { factors: { ms: 0.001, s: 1, min: 60, m: 60, h: 3600, d: 86_400 }, example: '25ms, 90s, 15min or 2d' },
  ratio: { factors: { '%': 0.01 }, example: '5% or 0.05' },
  number: { factors: {}, example: '450' },
} as const

const readLimit = ({ row, limit }: Level, value: string | number): number => {
  const unit = unitOf(row)
  const { factors, example } = UNITS[unit]
  const [, digits = '', suffix = ''] = /^(\d+(?:\.\d+)?) ?([a-z%]*)$/i.exec(String(value).trim()) ?? []
  const factor = suffix === '' ? 1 : new Map<string, number>(Object.entries(factors)).get(suffix)
  if (digits === '' || factor === undefined) throw new Unexpected(`a number like ${example}`)
  const read = Number((Number(digits) * factor).toPrecision(12))
  if (unit === 'ratio' && limit <= 1 && read > 1) throw new Unexpected('a ratio of at most 1, like 5% or 0.05')
  if (row.limits && !row.limits.includes(read))
    throw new Unexpected(`a bound of the histogram in seconds: one of ${row.limits.join(', ')}`)
  return read
}

/** The unit of a limit, from the name of the metric that the expression compares with it. */
export const unitOf = ({ expr }: Pick<AlertRow, 'expr'>): keyof typeof UNITS => {
  const [compared = ''] = expressionOf({ expr, limit: Number.NaN }).split('NaN')
  // A quotient of two values of one unit.
  if (/\s\/\s/.test(compared) || /[_:]ratio/.test(compared)) return 'ratio'
  return /seconds/.test(compared) ? 'seconds' : 'number'
}

/** A critical limit that is reached before the warning limit; undefined if they are in order. */
const reversedLimits = (alert: string, { warning, critical }: RuleTuning): string | undefined => {
  const settings = settingsOf(alert)
  const [low, high] = ['warning', 'critical'].map((name) => settings.get(name)?.limit)
  if (low === undefined || high === undefined || low === high) return undefined
  const difference = (critical ?? high) - (warning ?? low)
  return difference === 0 || difference > 0 === high > low
    ? undefined
    : `expected a critical limit ${high > low ? 'above' : 'below'} that of the warning, ${warning ?? low}`
}

const OBJECTIVE = 'expected a ratio from 0.95 to 0.9999'

const limits = z
  .record(z.string(), z.record(z.string(), z.union([z.string(), z.number()], 'expected a number or text')))
  .transform((written, context) => {
    const read = readLimits(written)
    for (const { path, message } of read.problems) context.addIssue({ code: 'custom', path: [...path], message })
    return read.limits
  })

const alert = z.string().superRefine((name, context) => {
  const message = alertProblem(name)
  if (message !== undefined) context.addIssue(message)
})

/** How the health of the node is judged: by the agent, and in the rules that `chain-agent rules` writes. */
export const health = z
  .strictObject({
    role: z
      .enum(['auto', ...NODE_ROLES])
      .default('auto')
      .describe('what the node is for: validator, full-node, rpc; auto: validator or full-node, by its stake'),
    objective: z
      .number()
      .min(0.95, OBJECTIVE)
      .max(0.9999, OBJECTIVE)
      .default(DEFAULT_TUNING.objective)
      .describe('the ratio of a week in which the node should have a fresh block'),
    limits: limits
      .prefault({})
      .describe(
        'limits of alerts, by NAME or NAME.why: {ChainBehind: {warning: 8s, critical: 30s, for: 2m}}; docs/how-to/alerts.md',
      ),
    disable: z.array(alert).default([]).describe('alerts that are not evaluated: NAME for all its rows, or NAME.why'),
  })
  .prefault({})
