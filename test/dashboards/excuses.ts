import type { Rule } from './findings.ts'

/** Something that would be wrong, and is not: what, where, and why. */
export interface Excuse {
  readonly rule: Rule
  /** How the finding begins, up to its colon. */
  readonly where: string
  readonly reason: string
}

const statesync = (panel: string, targets: string): readonly Excuse[] =>
  [...targets].map((target) => ({
    rule: 'empty',
    where: `node, panel "${panel}", target ${target}`,
    reason: 'There during statesync alone.',
  }))

/**
 * What a node that is well has nothing to show for, and what is meant to be as it is. One that is not needed is
 * an error; what is empty here must show something on another node of the history.
 */
export const EXCUSES: readonly Excuse[] = [
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
