/** Why a request came to nothing, and so what is to be done: again, less at a time, or not at all. */
export interface Fault {
  readonly kind: 'retry' | 'shrink' | 'protocol' | 'fatal'
  readonly happened: string
  /** Nothing came in time: less at a time may. */
  readonly isLate?: boolean
}

export class FaultError extends Error {
  readonly fault: Fault
  constructor(fault: Fault) {
    super(fault.happened)
    this.fault = fault
  }
}

/** The code of the system, where it told one. */
export const codeOf = (error: Error): string =>
  'code' in error && typeof error.code === 'string' ? error.code : error.name
