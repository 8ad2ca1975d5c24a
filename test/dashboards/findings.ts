export const RULES = [
  'words',
  'unit',
  'rate',
  'metric',
  'link',
  'contrast',
  'style',
  'query',
  'empty',
  'legend',
  'many',
  'excuse',
] as const

export type Rule = (typeof RULES)[number]

/** A problem of a dashboard, as a sentence. */
export interface Finding {
  readonly rule: Rule
  readonly text: string
}

/** `node, panel "Height", target A: the unit is missing; expected one of Grafana's.` */
export const finding = (rule: Rule, where: string, what: string): Finding => ({ rule, text: `${where}: ${what}.` })

/** A finding that is allowed: where, and why. */
export interface AllowedFinding {
  readonly rule: Rule
  /** The finding up to its colon. */
  readonly where: string
  readonly reason: string
}

const statesync = (panel: string, targets: string): readonly AllowedFinding[] =>
  [...targets].map((target) => ({
    rule: 'empty',
    where: `${panel}, target ${target}`,
    reason: 'there during statesync alone',
  }))

/**
 * Panels that are empty for a healthy node, and intended exceptions. An entry that is not needed is an error, and a
 * panel that is allowed to be empty must show data for another node of the history.
 */
export const ALLOWED_FINDINGS: readonly AllowedFinding[] = [
  ...statesync('node, panel "Blocks left of statesync"', 'AB'),
  ...statesync('consensus, panel "Time left"', 'B'),
  ...statesync('consensus, panel "Statesync: blocks"', 'ABCD'),
  ...statesync('consensus, panel "Statesync: progress"', 'A'),
  ...statesync('consensus, panel "Statesync: last progress"', 'A'),
  ...['node', 'consensus', 'storage', 'query-service'].map((name): AllowedFinding => ({
    rule: 'empty',
    where: `${name}, panel "Alerts that fire", target A`,
    reason:
      'none fires on a healthy node; if one does, give the metric of its rule a history in test/dashboards/history/',
  })),
  {
    rule: 'empty',
    where: 'node, panel "Exits that were not clean, in an hour", target A',
    reason: 'nothing crashed on a healthy node',
  },
]
