import { minute } from '../../core/units.ts'

interface Running {
  readonly activeState: string
  readonly invocation: string | null
  readonly startedAt: number | null
}

/** Starts further apart than this were not one start of the node: used only until we have seen one ourselves. */
const ONE_START_MS = 2 * minute

/**
 * Tells whether consensus was started anew beside an execution that was not: execution then meets
 * blocks that it has already run, and has been seen to end on an assertion. Null until both have
 * been seen running; it stays true until execution, too, starts anew.
 */
export const createPartialRestart = () => {
  let before: { readonly bft: string; readonly execution: string } | undefined
  let isPartial: boolean | null = null
  return (bft: Running | undefined, execution: Running | undefined): boolean | null => {
    if (!isRunning(bft) || !isRunning(execution)) return isPartial
    const now = { bft: bft.invocation, execution: execution.invocation }
    if (!before) isPartial = bft.startedAt - execution.startedAt > ONE_START_MS
    else if (now.execution !== before.execution) isPartial = false
    else if (now.bft !== before.bft) isPartial = true
    before = now
    return isPartial
  }
}

const isRunning = (
  unit: Running | undefined,
): unit is { activeState: 'active'; invocation: string; startedAt: number } =>
  unit?.activeState === 'active' && unit.invocation !== null && unit.startedAt !== null
