import type { Filter } from '../../store/store.ts'
import { join } from './json.ts'
import { Refusal } from './refusal.ts'

/**
 * Throws where the filter matches logs that are not kept. A filter without an address asks for the logs of all
 * contracts: an answer from the kept ones would be incomplete and look complete.
 */
export const checkScope = (filter: Filter, scope: Filter, path: string): void => {
  checkValues(filter.addresses, scope.addresses, { path: join(path, 'address'), scope })
  for (const [position, kept] of scope.topics.entries())
    checkValues(filter.topics[position] ?? [], kept, {
      path: join(join(path, 'topics'), position),
      scope,
    })
}

interface Where {
  readonly path: string
  readonly scope: Filter
}

/** No values are all values, on either side. */
const checkValues = (
  asked: readonly string[],
  kept: readonly string[],
  { path, scope }: Where,
): void => {
  if (kept.length === 0 || (asked.length > 0 && asked.every((value) => kept.includes(value))))
    return
  const advice = asked.length === 0 ? '; name them in the filter' : ''
  throw new Refusal('not_indexed', `this service keeps only logs ${nameOf(scope)}${advice}`, {
    path,
  })
}

const nameOf = ({ addresses, topics }: Filter): string =>
  [
    ...(addresses.length === 0 ? [] : [`of ${listOf(addresses)}`]),
    ...topics.flatMap((values, position) =>
      values.length === 0 ? [] : [`with topic${position} ${listOf(values)}`],
    ),
  ].join(' ')

const NAMED = 5

const listOf = (values: readonly string[]): string => {
  const more = values.length - NAMED
  return `${values.slice(0, NAMED).join(' or ')}${more > 0 ? ` (and ${more} more)` : ''}`
}
