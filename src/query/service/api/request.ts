import { LOG_FIELDS } from '../../log-fields.ts'
import { type Asked } from './asked.ts'
import { readFilters } from './filters.ts'
import { readHosted } from './hosted.ts'
import { type JsonObject, parseObject } from './json.ts'
import { bad, member, readInteger, readObject, readOptionalInteger } from './read.ts'
import { readLogFields, type RequestRules, reversed } from './selection.ts'

const KEYS = ['from_block', 'to_block', 'logs', 'field_selection']

/** What a body asks for. Throws a Refusal that names what is wrong and where. */
export const readRequest = (bytes: Uint8Array, rules: RequestRules): Asked => {
  const body = parseObject(bytes)
  return rules.dialect === 'hosted' ? readHosted(body, rules) : readSpec(body, rules)
}

const readSpec = (body: JsonObject, rules: RequestRules): Asked => {
  readObject({ value: body, path: '' }, KEYS)
  const from = readInteger(member(body, 'from_block'))
  const to = readOptionalInteger(member(body, 'to_block'))
  if (to !== null && to < from) throw reversed()
  const filters = readFilters(member(body, 'logs'), { ...rules, isHosted: false })
  const selection = member(body, 'field_selection')
  const log = member(readObject(selection, ['log']), 'log', selection.path)
  const fields = readLogFields(log)
  if (fields.length === 0) throw bad(log, `some of ${LOG_FIELDS.join(', ')}`)
  return { from, to, filters, fields, blockFields: [], blocks: 'found', maxLogs: null }
}
