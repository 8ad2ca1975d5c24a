import type { Filter } from '../../store/store.ts'
import { join } from './json.ts'
import { type QueryLimits } from './limits.ts'
import { bad, member, type Place, readList, readObject } from './read.ts'
import { Refusal } from './refusal.ts'
import { checkScope } from './scope.ts'

export interface FilterRules {
  readonly scope: Filter
  readonly limits: Pick<QueryLimits, 'filters' | 'values'>
  /** Whether an alternative may be `{include, exclude}`, as newer clients of the hosted service have it. */
  readonly isHosted: boolean
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const TOPIC = /^0x[0-9a-fA-F]{64}$/
const POSITIONS = 4
const ANY: Filter = { addresses: [], topics: [] }

/** The alternatives of a request, all of them within what is kept. An empty list selects no log; `logs` itself is required. */
export const readFilters = (place: Place, rules: FilterRules): readonly Filter[] => {
  const { limits, scope, isHosted } = rules
  if (place.value === undefined) throw bad(place, 'a list of filters')
  const entries = readList(place, limits.filters + 1)
  if (entries.length > limits.filters)
    throw new Refusal('too_many', `more than ${limits.filters} filters in one request`, {
      path: join(place.path, limits.filters),
    })
  const budget = { left: limits.values, of: limits.values }
  const filters = entries.map((entry) => {
    const filter = readFilter(isHosted ? included(entry) : entry, budget)
    checkScope(filter, scope, entry.path)
    return filter
  })
  return withoutRepetition(filters)
}

/** How many more values the request may have. */
interface Budget {
  left: number
  readonly of: number
}

const included = (entry: Place): Place => {
  const { value, path } = entry
  const isNew =
    typeof value === 'object' &&
    value !== null &&
    (Object.hasOwn(value, 'include') || Object.hasOwn(value, 'exclude'))
  if (!isNew) return entry
  const object = readObject(entry, ['include', 'exclude'])
  const exclude = member(object, 'exclude', path)
  if ((exclude.value ?? null) !== null)
    throw new Refusal('not_served', 'logs can not be excluded here', { path: exclude.path })
  return member(object, 'include', path)
}

const readFilter = (place: Place, budget: Budget): Filter => {
  const object = readObject(place, ['address', 'topics'])
  const topics = member(object, 'topics', place.path)
  const positions = readList(topics, POSITIONS + 1)
  if (positions.length > POSITIONS)
    throw new Refusal('bad_value', 'a log has four topics at most', {
      path: join(topics.path, POSITIONS),
    })
  return {
    addresses: readValues(member(object, 'address', place.path), {
      form: ADDRESS,
      expected: 'an address: 0x and 40 hex digits',
      budget,
    }),
    topics: withoutTail(
      positions.map((position) =>
        readValues(position, { form: TOPIC, expected: 'a topic: 0x and 64 hex digits', budget }),
      ),
    ),
  }
}

interface Form {
  readonly form: RegExp
  readonly expected: string
  readonly budget: Budget
}

const readValues = (place: Place, { form, expected, budget }: Form): readonly string[] => {
  const values = readList(place, budget.left + 1).map((entry) => {
    const { value, path } = entry
    if (budget.left === 0)
      throw new Refusal('too_many', `more than ${budget.of} values in one request`, { path })
    budget.left -= 1
    if (typeof value !== 'string' || !form.test(value)) throw bad(entry, expected)
    return value.toLowerCase()
  })
  return [...new Set(values)]
}

/** Any topic at the end is no topic asked for. */
const withoutTail = (topics: readonly (readonly string[])[]): readonly (readonly string[])[] =>
  topics.slice(0, topics.findLastIndex((values) => values.length > 0) + 1)

/** A filter that takes every log leaves nothing to the others. */
const withoutRepetition = (filters: readonly Filter[]): readonly Filter[] =>
  filters.some(({ addresses, topics }) => addresses.length === 0 && topics.length === 0)
    ? [ANY]
    : [...new Map(filters.map((filter) => [JSON.stringify(filter), filter])).values()]
