import type { Filter } from '../../store/store.ts'
import { HttpError } from './http-error.ts'
import { type InputValue, invalidValue, join, member, readList, readObject } from './json-body.ts'
import type { QueryLimits } from './limits.ts'

export interface FilterRules {
  readonly scope: Filter
  readonly limits: Pick<QueryLimits, 'filters' | 'values'>
  /** Accept `{include, exclude}` as an alternative, as newer clients of the hosted service send it. */
  readonly isHosted: boolean
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const TOPIC = /^0x[0-9a-fA-F]{64}$/
const TOPIC_POSITIONS = 4
const ANY: Filter = { addresses: [], topics: [] }

/**
 * The alternatives of a query, each within the scope of the store. An empty list matches no log; `logs` itself is
 * required.
 */
export const readFilters = (input: InputValue, rules: FilterRules): readonly Filter[] => {
  const { limits, scope, isHosted } = rules
  if (input.value === undefined) throw invalidValue(input, 'a list of filters')
  const entries = readList(input, limits.filters + 1)
  if (entries.length > limits.filters)
    throw new HttpError('too_many', `more than ${limits.filters} filters in one request`, {
      path: join(input.path, limits.filters),
    })
  const budget = { left: limits.values, of: limits.values }
  const filters = entries.map((entry) => {
    const filter = readFilter(isHosted ? unwrapInclude(entry) : entry, budget)
    checkScope(filter, scope, entry.path)
    return filter
  })
  return deduplicate(filters)
}

/** How many more values the query may have. */
interface Budget {
  left: number
  readonly of: number
}

const unwrapInclude = (entry: InputValue): InputValue => {
  const { value, path } = entry
  const isIncludeExclude =
    typeof value === 'object' && value !== null && (Object.hasOwn(value, 'include') || Object.hasOwn(value, 'exclude'))
  if (!isIncludeExclude) return entry
  const object = readObject(entry, ['include', 'exclude'])
  const exclude = member(object, 'exclude', path)
  if ((exclude.value ?? null) !== null)
    throw new HttpError('not_served', 'excluding logs is not supported', { path: exclude.path })
  return member(object, 'include', path)
}

const readFilter = (input: InputValue, budget: Budget): Filter => {
  const object = readObject(input, ['address', 'topics'])
  const topics = member(object, 'topics', input.path)
  const positions = readList(topics, TOPIC_POSITIONS + 1)
  if (positions.length > TOPIC_POSITIONS)
    throw new HttpError('bad_value', 'a log has at most four topics', {
      path: join(topics.path, TOPIC_POSITIONS),
    })
  return {
    addresses: readValues(member(object, 'address', input.path), {
      form: ADDRESS,
      expected: 'an address: 0x and 40 hex digits',
      budget,
    }),
    topics: trimTopics(
      positions.map((position) =>
        readValues(position, { form: TOPIC, expected: 'a topic: 0x and 64 hex digits', budget }),
      ),
    ),
  }
}

interface ValueRules {
  readonly form: RegExp
  readonly expected: string
  readonly budget: Budget
}

const readValues = (input: InputValue, { form, expected, budget }: ValueRules): readonly string[] => {
  const values = readList(input, budget.left + 1).map((entry) => {
    const { value, path } = entry
    if (budget.left === 0) throw new HttpError('too_many', `more than ${budget.of} values in one request`, { path })
    budget.left -= 1
    if (typeof value !== 'string' || !form.test(value)) throw invalidValue(entry, expected)
    return value.toLowerCase()
  })
  return [...new Set(values)]
}

/** A trailing position without values adds no condition. */
const trimTopics = (topics: readonly (readonly string[])[]): readonly (readonly string[])[] =>
  topics.slice(0, topics.findLastIndex((values) => values.length > 0) + 1)

/** A filter that matches every log makes the others redundant. */
const deduplicate = (filters: readonly Filter[]): readonly Filter[] =>
  filters.some(({ addresses, topics }) => addresses.length === 0 && topics.length === 0)
    ? [ANY]
    : [...new Map(filters.map((filter) => [JSON.stringify(filter), filter])).values()]

/**
 * Throws if the filter matches logs that the store does not keep. A filter without an address asks for the logs of all
 * contracts: an answer from the kept ones would be incomplete and look complete.
 */
const checkScope = (filter: Filter, scope: Filter, path: string): void => {
  checkValues(filter.addresses, scope.addresses, { path: join(path, 'address'), scope })
  for (const [position, kept] of scope.topics.entries())
    checkValues(filter.topics[position] ?? [], kept, {
      path: join(join(path, 'topics'), position),
      scope,
    })
}

interface ScopeContext {
  readonly path: string
  readonly scope: Filter
}

/** An empty list matches everything, in the filter and in the scope. */
const checkValues = (requested: readonly string[], kept: readonly string[], { path, scope }: ScopeContext): void => {
  if (kept.length === 0 || (requested.length > 0 && requested.every((value) => kept.includes(value)))) return
  const advice = requested.length === 0 ? '; name them in the filter' : ''
  throw new HttpError('not_indexed', `this service keeps only logs ${describeScope(scope)}${advice}`, {
    path,
  })
}

const describeScope = ({ addresses, topics }: Filter): string =>
  [
    ...(addresses.length === 0 ? [] : [`of ${describeValues(addresses)}`]),
    ...topics.flatMap((values, position) =>
      values.length === 0 ? [] : [`with topic${position} ${describeValues(values)}`],
    ),
  ].join(' ')

const SHOWN_VALUES = 5

const describeValues = (values: readonly string[]): string => {
  const more = values.length - SHOWN_VALUES
  return `${values.slice(0, SHOWN_VALUES).join(' or ')}${more > 0 ? ` (and ${more} more)` : ''}`
}
