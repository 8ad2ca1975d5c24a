import type { Rule } from './findings.ts'

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
    where: `node, panel "${panel}", target ${target}`,
    reason: 'There during statesync alone.',
  }))

/**
 * Panels that are empty for a healthy node, and intended exceptions. An entry that is not needed is an error, and a
 * panel that is allowed to be empty must show data for another node of the history.
 */
export const ALLOWED_FINDINGS: readonly AllowedFinding[] = [
  ...statesync('If it stood still from now on', 'B'),
  ...statesync('Statesync', 'ABCD'),
  ...statesync('Statesync has moved', 'A'),
  ...statesync('Statesync is done to', 'A'),
  {
    rule: 'empty',
    where: 'node, panel "Alerts that fire", target A',
    reason: 'None fires on a node that is well.',
  },
  {
    rule: 'empty',
    where: 'node, panel "Ends that were not clean, in an hour", target A',
    reason: 'Nothing crashed on a node that is well.',
  },
]
