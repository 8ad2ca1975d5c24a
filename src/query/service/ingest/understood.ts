import { IngestError } from './errors.ts'
import { FieldError } from './fields.ts'

/** What `parse` makes of an answer; an IngestError where that is not what was asked for. */
export const understood = <T>(what: string, value: unknown, parse: (value: unknown) => T): T => {
  try {
    return parse(value)
  } catch (error) {
    if (!(error instanceof FieldError)) throw error
    throw new IngestError('nonsense', {
      doing: `understand ${what}`,
      happened: `expected ${error.message}`,
      evidence: (JSON.stringify(value) ?? '').slice(0, 400),
    })
  }
}
