/** Versions whose lines differ. */
export const EXECUTION_SHAPES = ['0.14', '0.16'] as const

/** How a node executes blocks, and which version's lines it writes of them. */
export interface Execution {
  /** About so long a block takes; undefined for what its transactions need. */
  readonly blockMs: number | undefined
  /** Share of the transactions that are executed again, in percent. */
  readonly retriedPercent: number
  /** Whether another block of the same height is executed first. */
  readonly twice: boolean
  readonly speaks: (typeof EXECUTION_SHAPES)[number]
}

export const usualExecution: Execution = {
  blockMs: undefined,
  retriedPercent: 5,
  twice: false,
  speaks: '0.16',
}
