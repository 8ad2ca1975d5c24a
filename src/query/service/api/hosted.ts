import { type Asked, BLOCK_FIELDS } from './asked.ts'
import { readFilters } from './filters.ts'
import { type JsonObject } from './json.ts'
import {
  bad,
  member,
  type Place,
  readInteger,
  readList,
  readNames,
  readObject,
  readOptionalInteger,
} from './read.ts'
import { Refusal } from './refusal.ts'
import { readLogFields, type RequestRules, reversed } from './selection.ts'

/** Tables that are not kept; nothing may be asked of them. */
const TABLES = ['transaction', 'trace'] as const
const SELECTIONS = ['transactions', 'traces', 'blocks']
const LIMITS = ['max_num_blocks', 'max_num_transactions', 'max_num_logs', 'max_num_traces'] as const
const KEYS = [
  'from_block',
  'to_block',
  'logs',
  'field_selection',
  'include_all_blocks',
  'join_mode',
  ...SELECTIONS,
  ...LIMITS,
]

/** A request as clients of the hosted service send it. What only that service has is refused by name. */
export const readHosted = (body: JsonObject, rules: RequestRules): Asked => {
  readObject({ value: body, path: '' }, KEYS)
  const from = readInteger(member(body, 'from_block'))
  const end = readOptionalInteger(member(body, 'to_block'))
  if (end !== null && end < from) throw reversed()
  for (const key of SELECTIONS) refuseAny(member(body, key), 'only logs can be selected here')
  const filters = readFilters(member(body, 'logs'), { ...rules, isHosted: true })
  const isAllBlocks = readFlag(member(body, 'include_all_blocks'))
  const isJoined = readJoin(member(body, 'join_mode'))
  const [maxBlocks, , maxLogs] = LIMITS.map((key) => readOptionalInteger(member(body, key)))
  const { fields, blockFields } = readSelection(member(body, 'field_selection'))
  return {
    from,
    to: lastOf(from, end, maxBlocks ?? null),
    filters,
    fields,
    blockFields: isJoined || isAllBlocks ? blockFields : [],
    blocks: isAllBlocks ? 'all' : 'found',
    maxLogs: maxLogs ?? null,
  }
}

/** So few blocks looked at are never too many found. */
const lastOf = (from: number, end: number | null, maxBlocks: number | null): number | null => {
  const last = end === null ? null : end - 1
  if (maxBlocks === null) return last
  const limit = Math.min(Number.MAX_SAFE_INTEGER, from + Math.max(1, maxBlocks) - 1)
  return last === null ? limit : Math.min(last, limit)
}

const readSelection = (place: Place) => {
  if ((place.value ?? null) === null) return { fields: [], blockFields: [] }
  const object = readObject(place, ['block', 'log', ...TABLES])
  for (const table of TABLES)
    refuseAny(member(object, table, place.path), `there are no ${table}s here`)
  const blockNames = readNames(member(object, 'block', place.path), BLOCK_FIELDS)
  return {
    fields: readLogFields(member(object, 'log', place.path)),
    blockFields: BLOCK_FIELDS.filter((field) => blockNames.has(field)),
  }
}

const refuseAny = (place: Place, why: string): void => {
  if (place.value === null) return
  const [first] = readList(place, 1)
  if (first) throw new Refusal('not_served', why, { path: first.path })
}

const readFlag = (place: Place): boolean => {
  if (place.value === undefined || place.value === null) return false
  if (typeof place.value !== 'boolean') throw bad(place, 'true or false')
  return place.value
}

/** Whether blocks come with the logs that are in them. */
const readJoin = (place: Place): boolean => {
  switch (place.value) {
    case undefined:
    case null:
    case 'Default':
      return true
    case 'JoinNothing':
      return false
    case 'JoinAll':
      throw new Refusal(
        'not_served',
        'the other logs of a transaction can not be joined here; use Default or JoinNothing',
        { path: place.path },
      )
    default:
      throw bad(place, 'Default or JoinNothing')
  }
}
