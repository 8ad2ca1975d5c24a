import { descriptionOf } from './render.ts'
import { addressOf, type AlertRow, isMeant, type RuleFile, type RuleSeverity } from './rule.ts'

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

/** The rules of a file as an installation uses them. */
export const tuneFile = (file: RuleFile, { limits, disable }: Tuning): RuleFile => ({
  ...file,
  groups: file.groups
    .map((group) => ({
      ...group,
      rules: group.rules
        .filter((row) => !('alert' in row && disable.some((address) => isMeant(address, row))))
        .map((row) => ('alert' in row ? tuneRow(row, limits[addressOf(row)]) : row)),
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
