import { agent } from './agent.ts'
import { consensus } from './consensus.ts'
import { disk } from './disk.ts'
import { drives } from './drives.ts'
import { duty } from './duty.ts'
import { execution } from './execution.ts'
import { host } from './host.ts'
import { journal } from './journal.ts'
import { keys } from './keys.ts'
import { maintenance } from './maintenance.ts'
import { meta } from './meta.ts'
import { traffic, uptime } from './objectives.ts'
import { peers } from './peers.ts'
import { queryService } from './query-service.ts'
import { availability, recording } from './recording.ts'
import { services } from './services.ts'
import { staking } from './staking.ts'
import { storage } from './storage.ts'
import { sync } from './sync.ts'
import { validator } from './validator.ts'
import { watcher } from './watcher.ts'
import { expressionOf, labelsOf } from './render.ts'
import { addressOf, type AlertRow, levelsOf, type RecordingRow, type RuleFile } from './rule.ts'
import { DEFAULT_TUNING, tuneFile, type Tuning } from './tuning.ts'
import { parseDuration } from '../../core/units.ts'

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
  ]).map((file) => tuneFile(file, tuning))

/** The files with the depth of each alert below its causes. */
const withDepth = (files: readonly RuleFile[]): readonly RuleFile[] => {
  const rows = files.flatMap(({ groups }) => groups.flatMap(({ rules }) => rules)).filter((row) => 'alert' in row)
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
  return files.map((file) => ({
    ...file,
    groups: file.groups.map((group) => ({
      ...group,
      rules: group.rules.map((row) => ('alert' in row ? { ...row, depth: depthOf(row) } : row)),
    })),
  }))
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
  const rows = ruleFiles(tuning).flatMap(({ groups }) =>
    groups.flatMap(({ rules }) =>
      rules.flatMap((row): readonly (AlertRow | RecordingRow)[] => ('alert' in row ? levelsOf(row) : [row])),
    ),
  )
  return {
    recording: rows.flatMap((row) => ('record' in row ? [{ labels: {}, ...row }] : [])),
    alerts: rows.flatMap((row) =>
      'alert' in row
        ? [
            {
              alert: row.alert,
              row,
              expr: expressionOf(row),
              labels: labelsOf(row),
              for: parseDuration(row.for ?? '') ?? 0,
              keepFiringFor: parseDuration(row.keepFiringFor ?? '') ?? 0,
            },
          ]
        : [],
    ),
  }
}
