import { agent, meta, maintenance } from './agent.ts'
import { consensus } from './consensus.ts'
import { disk, drives } from './disk.ts'
import { duty, validator } from './duty.ts'
import { execution } from './execution.ts'
import { host } from './host.ts'
import { journal } from './journal.ts'
import { keys } from './keys.ts'
import { traffic, uptime } from './objectives.ts'
import { peers } from './peers.ts'
import { queryService } from './query-service.ts'
import { availability, recording } from './recording.ts'
import { services } from './services.ts'
import { staking } from './staking.ts'
import { storage } from './storage.ts'
import { sync } from './sync.ts'
import { watcher } from './watcher.ts'
import { descriptionOf, expressionOf, labelsOf } from './render.ts'
import { addressOf, type AlertRow, alertsOf, isMeant, levelsOf, type RuleFile, type RuleSeverity } from './rule.ts'
import { parseDuration } from '../../core/units.ts'

/** What an installation changes in the rows of one address; absent is the default. */
export interface RuleTuning {
  /** The limit of a rule that has one. */
  readonly limit?: number
  readonly warning?: number
  readonly critical?: number
  /** At each severity, as a Prometheus duration. */
  readonly for?: string
}

/** What an installation changes in the rules. */
export interface Tuning {
  /** By address. */
  readonly limits: Readonly<Record<string, RuleTuning>>
  /** Names, for all rows of a name, and addresses of rows. */
  readonly disable: readonly string[]
  /** The ratio of a week in which the node should have a fresh block. */
  readonly objective: number
}

export const DEFAULT_TUNING: Tuning = { limits: {}, disable: [], objective: 0.98 }

/** Every rule of an installation, by file. Recordings that other files use come first. */
export const ruleFiles = (tuning: Tuning): readonly RuleFile[] =>
  withDepth([
    recording,
    availability,
    agent,
    consensus,
    disk,
    drives,
    duty,
    execution,
    host,
    journal,
    keys,
    maintenance,
    meta,
    peers,
    queryService,
    services,
    staking,
    storage,
    sync,
    traffic,
    uptime(tuning.objective),
    validator,
    watcher,
  ]).map((file) =>
    withRows(file, (row) =>
      tuning.disable.some((address) => isMeant(address, row)) ? [] : [tuneRow(row, tuning.limits[addressOf(row)])],
    ),
  )

type RuleRows = RuleFile['groups'][number]['rules']

/** The file with other rows in the place of each alert. */
const withRows = (file: RuleFile, change: (row: AlertRow) => readonly AlertRow[]): RuleFile => ({
  ...file,
  groups: file.groups
    .map((group) => ({
      ...group,
      rules: group.rules.flatMap((row): RuleRows => ('alert' in row ? change(row) : [row])),
    }))
    .filter(({ rules }) => rules.length > 0),
})

const tuneRow = (row: AlertRow, tuning: RuleTuning | undefined): AlertRow => {
  if (tuning === undefined) return row
  const tuned = {
    ...changed(row, row.severity, tuning),
    comment: [`Changed for this installation. Default: ${settingsOf(row)}.`, row.comment ?? ''].join(' ').trim(),
    // Descriptions name the default duration in words.
    description: (limit: number) =>
      [
        descriptionOf({ ...row, limit }),
        ...(tuning.for === undefined ? [] : [`This installation sets the duration to ${tuning.for}.`]),
      ].join(' '),
  }
  if (row.severity === 'critical' || row.critical === undefined) return { ...row, ...tuned }
  return { ...row, ...tuned, critical: { ...row.critical, ...changed(row.critical, 'critical', tuning) } }
}

type Settings = Pick<AlertRow, 'limit' | 'for'>

const changed = (row: Settings, severity: RuleSeverity, tuning: RuleTuning): Settings => ({
  ...(row.limit !== undefined && { limit: limitAt(severity, tuning) ?? row.limit }),
  ...(row.for !== undefined && { for: tuning.for ?? row.for }),
})

const limitAt = (severity: RuleSeverity, { limit, warning, critical }: RuleTuning): number | undefined =>
  ({ critical, warning, info: undefined, none: undefined })[severity] ?? limit

const settingsOf = ({ critical, ...row }: AlertRow): string =>
  [textOf(row), ...(critical ? [`critical ${textOf(critical)}`] : [])].join('; ')

const textOf = (settings: Settings): string =>
  (['limit', 'for'] as const)
    .flatMap((name) => (settings[name] === undefined ? [] : [`${name} ${settings[name]}`]))
    .join(', ')

/** The files with the depth of each alert below its causes. */
const withDepth = (files: readonly RuleFile[]): readonly RuleFile[] => {
  const rows = alertsOf(files)
  const causesOf = (row: AlertRow): readonly AlertRow[] => {
    const addresses = (row.explainedBy ?? []).flatMap(({ alerts }) => alerts)
    return rows.filter((other) => addresses.includes(addressOf(other)))
  }
  const depths = new Map<AlertRow, number>()
  const depthOf = (row: AlertRow, seen: readonly string[] = []): number => {
    const known = depths.get(row)
    if (known !== undefined) return known
    const others = causesOf(row).filter((other) => !seen.includes(addressOf(other)))
    const depth =
      others.length === 0 ? 0 : 1 + Math.max(...others.map((other) => depthOf(other, [...seen, addressOf(row)])))
    if (seen.length === 0) depths.set(row, depth)
    return depth
  }
  return files.map((file) => withRows(file, (row) => [{ ...row, depth: depthOf(row) }]))
}

/** The limit of a row, by its address, at a severity, in the unit of its metric. Throws a RangeError if it has none. */
export const limitOf = (alert: string, severity: AlertRow['severity']): number => {
  const limit = (defaultLimits ??= limitsOf(DEFAULT_TUNING))(alert, severity)
  if (limit === undefined) throw new RangeError(`the alert ${alert} has no limit of severity ${severity}`)
  return limit
}

let defaultLimits: LimitOf | undefined

/** The limit of a row, by its address; undefined if it has none, or is disabled. */
export type LimitOf = (alert: string, severity: AlertRow['severity']) => number | undefined

/** The limits of an installation. If several rules have one address and severity, the limit of the first. */
export const limitsOf = (tuning: Tuning): LimitOf => {
  const limits = new Map(
    ruleSet(tuning)
      .alerts.toReversed()
      .map(({ row }) => [`${addressOf(row)} ${row.severity}`, row.limit]),
  )
  return (alert, severity) => limits.get(`${alert} ${severity}`)
}

/** Every rule with its default limits, by file. */
export const RULE_FILES: readonly RuleFile[] = ruleFiles(DEFAULT_TUNING)

/** All rules of an installation as an evaluator takes them. */
export const ruleSet = (tuning: Tuning = DEFAULT_TUNING) => {
  const files = ruleFiles(tuning)
  return {
    recording: files.flatMap(({ groups }) =>
      groups.flatMap(({ rules }) => rules.flatMap((row) => ('record' in row ? [{ labels: {}, ...row }] : []))),
    ),
    alerts: alertsOf(files)
      .flatMap(levelsOf)
      .map((row) => ({
        alert: row.alert,
        row,
        expr: expressionOf(row),
        labels: labelsOf(row),
        for: parseDuration(row.for ?? '') ?? 0,
        keepFiringFor: parseDuration(row.keepFiringFor ?? '') ?? 0,
      })),
  }
}
