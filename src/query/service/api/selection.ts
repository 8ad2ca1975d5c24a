import { LOG_FIELDS, type LogField } from '../../log-fields.ts'
import { type Dialect } from './asked.ts'
import { type FilterRules } from './filters.ts'
import { type Place, readNames } from './read.ts'
import { Refusal } from './refusal.ts'

export interface RequestRules extends Omit<FilterRules, 'isHosted'> {
  readonly dialect: Dialect
}

/** In one order, whatever the order they are asked in. */
export const readLogFields = (place: Place): readonly LogField[] => {
  const names = readNames(place, LOG_FIELDS)
  return LOG_FIELDS.filter((field) => names.has(field))
}

export const reversed = (): Refusal =>
  new Refusal('bad_value', 'to_block lies before from_block', { path: 'to_block' })
