/** The most severe first. `none`: only for inhibition and for the dead man's switch. */
export const SEVERITIES = ['critical', 'warning', 'info', 'none'] as const
export type RuleSeverity = (typeof SEVERITIES)[number]

export type Component =
  | 'consensus'
  | 'sync'
  | 'execution'
  | 'storage'
  | 'services'
  | 'host'
  | 'keys'
  | 'security'
  | 'duty'
  | 'agent'

/** A rule that computes what other rules and the dashboards use. */
export interface RecordingRow {
  /** Comment in the generated file. */
  readonly comment?: string
  readonly record: string
  readonly labels?: Readonly<Record<string, string>>
  readonly expr: string
}

/** Alerts of the same node, or of its fleet, whose cause explains another alert. */
export interface Cause {
  /** Their addresses. */
  readonly alerts: readonly string[]
  /** `fleet`: the alerts have no label `instance`; they are about all nodes of a job in a cluster. */
  readonly scope?: 'fleet'
  /** Only if the label `service` has one of these values. */
  readonly services?: readonly string[]
}

/** The node of an alert as variables of a dashboard. Without a cluster, the dashboard selects all. */
export const NODE_VARIABLES =
  'var-job={{ $labels.job }}{{ with $labels.cluster }}&var-cluster={{ . }}{{ end }}&var-instance={{ $labels.instance }}'

/** A service does not run. */
export const SERVICE_DOWN = ['ChainServiceDown', 'ChainServiceDown.failed', 'ChainServiceDown.missing'] as const

/** Consensus or execution is down: the node has no new block, serves nothing and does not vote. */
export const NODE_DOWN: Cause = { alerts: SERVICE_DOWN, services: ['bft', 'execution'] }

/** The RPC does not answer, or not most of the requests. */
export const RPC_DOWN = ['ChainRpcDown', 'ChainRpcDown.most-requests-fail'] as const

/** No node of the network has a new block: restarting one does not help. */
export const NETWORK_HALTED: Cause = { alerts: ['ChainNetworkHalted'], scope: 'fleet' }

/** Of a node that runs and has no new block. */
export const STALLED_ADVICE = [
  'Analyse the consensus log: `chain-agent monlog`.',
  'See how to recover, and how much time is left: `chain-agent recover`.',
]

/** One condition on the samples of the agent that is a problem, at one severity or at two. */
export type AlertRow = AlertCondition & (PageLevel | WarningLevel)

/** A critical alert pages. */
interface PageLevel {
  readonly severity: 'critical'
  /** Why an operator must act at night: what is lost until the morning. */
  readonly page: string
  readonly critical?: never
}

interface WarningLevel {
  readonly severity: Exclude<RuleSeverity, 'critical'>
  readonly page?: never
  /** The same condition at another limit or after another time is a second rule, of severity critical. */
  readonly critical?: Pick<PageLevel, 'page'> & Partial<Pick<AlertCondition, 'limit' | 'for' | 'explainedBy'>>
}

interface AlertCondition {
  /** Why these limits and durations; the comment in the generated file. */
  readonly comment?: string
  /** A cause with one first action. */
  readonly alert: string
  /**
   * The mechanism, if a name has several: the label `why`, and with hyphens for spaces the heading of its section in the
   * runbook. Without it the row is what the name says.
   */
  readonly why?: string
  readonly component: Component
  /** Who causes the condition, if not the node, its host or its agent: restarting the node does not end it. */
  readonly causedBy?: 'network' | 'others'
  /** The number in `expr` and `description` that decides, in the unit of the metric. */
  readonly limit?: number
  /** The only values that `limit` can have: the bounds of a histogram. */
  readonly limits?: readonly number[]
  /** How long the condition must hold, as a Prometheus duration. */
  readonly for?: string
  readonly keepFiringFor?: string
  /** What it counts for in the state of the node, if not for its severity: an alert that needs no action may. */
  readonly countsAs?: 'warning'
  /**
   * What the condition counts for before its duration has passed, if not for the same: a
   * warning, or nothing because it is also true for a moment on a healthy node or after a start of the agent.
   */
  readonly pending?: 'warning' | 'nothing'
  /** While one of these fires, this alert is a consequence: Alertmanager inhibits it, and `check` lists it last. */
  readonly explainedBy?: readonly Cause[]
  /**
   * What to do, one step each; commands are between backticks. SERVICE, DIRECTORY and DEVICE stand for the label of that
   * name. The first step is the annotation `action`, unless the node needs a recovery: `recovers`.
   */
  readonly advice?: readonly string[]
  /** PromQL; returns one element for each problem. */
  readonly expr: string | ((limit: number) => string)
  /**
   * What is wrong with which object, in at most 75 characters: a phrase without the node and its values, and a template
   * of labels: `{{ $labels.service }} is down`. It is the first line of a message.
   */
  readonly summary: string
  /** A template of Prometheus: `{{ $labels.instance }}`, `{{ $value | humanizeDuration }}`. */
  readonly description: string | ((limit: number) => string)
  /** Who observes it, if that is not the agent of the node: a sentence of a message, a template of labels. */
  readonly seen?: string
  /** Path and query of a dashboard other than that of the node. */
  readonly dashboard?: string
  /** 0: no alert explains it; otherwise one more than the alerts that do. Computed from the rules. */
  readonly depth?: number
}

interface RuleGroup {
  readonly comment?: string
  readonly name: string
  /** How often it is evaluated, as a Prometheus duration; by default every 15 s. */
  readonly interval?: string
  readonly rules: readonly (AlertRow | RecordingRow)[]
}

/** The rules of one file in `alerts/`. */
export interface RuleFile {
  /** `consensus`: the file is `alerts/consensus.rules.yaml`. */
  readonly name: string
  readonly comment?: string
  readonly groups: readonly RuleGroup[]
}

/** What the rows of a file have in common, unless a row has its own. */
type RowDefaults = Pick<AlertCondition, 'component' | 'dashboard' | 'for' | 'advice'>

/**
 * A row of a file, whose `alert` is its address: critical if it has `page`, otherwise a warning unless it has another
 * severity.
 */
type WrittenRow = Omit<AlertCondition, keyof RowDefaults | 'why'> &
  Partial<RowDefaults> &
  (
    | (Omit<PageLevel, 'severity'> & { readonly severity?: never })
    | (Omit<WarningLevel, 'severity'> & { readonly severity?: 'info' | 'none' })
  )

export interface RuleFileHeader extends Pick<RuleFile, 'name' | 'comment'>, RowDefaults {
  /** The comment of its first group. */
  readonly groupComment?: string
}

/** The file `alerts/NAME.rules.yaml`: its recordings in the group `chain-NAME-recording`, then its alerts in `chain-NAME`. */
export const ruleFile = (
  { name, comment, groupComment, ...defaults }: RuleFileHeader,
  rows: readonly (WrittenRow | RecordingRow)[],
): RuleFile => {
  const groups: readonly RuleGroup[] = [
    { name: `chain-${name}-recording`, rules: rows.filter((row) => 'record' in row) },
    {
      name: `chain-${name}`,
      rules: alertRows(
        defaults,
        rows.filter((row) => 'alert' in row),
      ),
    },
  ].filter(({ rules }) => rules.length > 0)
  return {
    name,
    ...(comment !== undefined && { comment }),
    groups: groups.map((group, index) =>
      index === 0 && groupComment !== undefined ? { comment: groupComment, ...group } : group,
    ),
  }
}

export const alertRows = (defaults: RowDefaults, rows: readonly WrittenRow[]): readonly AlertRow[] =>
  rows.map((row): AlertRow =>
    row.page === undefined
      ? { ...defaults, severity: 'warning', ...row, ...splitAddress(row.alert) }
      : { ...defaults, ...row, severity: 'critical', ...splitAddress(row.alert) },
  )

/** The alerts of these files. */
export const alertsOf = (files: readonly RuleFile[]): readonly AlertRow[] =>
  files.flatMap(({ groups }) => groups.flatMap(({ rules }) => rules.filter((row) => 'alert' in row)))

/** The address of a row in settings, on screens and in documents: `ChainDiskFull`, `ChainDiskFull.filling`. */
export const addressOf = ({ alert, why }: Pick<AlertRow, 'alert' | 'why'>): string =>
  why === undefined ? alert : `${alert}.${why}`

/** Name and `why` of an address. */
export const splitAddress = (address: string): Pick<AlertRow, 'alert' | 'why'> => {
  const [alert = address, why] = address.split('.')
  return why === undefined ? { alert } : { alert, why }
}

/** Whether a name or an address means a row: a name means all rows of it. */
export const isMeant = (address: string, row: Pick<AlertRow, 'alert' | 'why'>): boolean =>
  address === row.alert || address === addressOf(row)

/** The rules of a row, one for each severity, each as a row of its own. The critical one comes first. */
export const levelsOf = ({ critical, ...row }: AlertRow): readonly AlertRow[] => [
  ...(critical ? [{ ...row, ...critical, severity: 'critical' as const }] : []),
  row,
]

/** Parts of the node for whose pages the recovery is the first step, as on the page of the node. */
const RECOVERED: readonly Component[] = ['consensus', 'sync', 'execution', 'storage', 'services']

/** Whether the action is that of the recovery, while the node needs one. */
export const recovers = ({ severity, component, advice = [] }: AlertRow): boolean =>
  (severity === 'critical' && RECOVERED.includes(component)) ||
  advice.some((step) => step.includes('`chain-agent recover`'))

/**
 * Whether a counter has increased in the range. VictoriaMetrics adds the first value of a new series to its increase(),
 * but not to its rate(); in Prometheus one is a multiple of the other.
 */
export const hasIncreased = (selector: string, range: string): string =>
  `increase(${selector}[${range}]) > 0\n  and ${isNotNew(selector, range)}`

/** The second half of `hasIncreased`, for another condition on the increase. */
export const isNotNew = (selector: string, range: string): string => `rate(${selector}[${range}]) != 0`

/** 0.05 is `5%`. */
export const percent = (ratio: number): string => `${Number((ratio * 100).toPrecision(12))}%`

const MINUTE_S = 60
const HOUR_S = 3600
const DAY_S = 86_400

/** Seconds as text: `15 minutes`, `48 hours`, `7 days`. */
export const period = (seconds: number): string => {
  if (seconds > 2 * DAY_S) return `${seconds / DAY_S} days`
  if (seconds >= HOUR_S) return `${seconds / HOUR_S} hours`
  return seconds > MINUTE_S ? `${seconds / MINUTE_S} minutes` : `${seconds} seconds`
}
