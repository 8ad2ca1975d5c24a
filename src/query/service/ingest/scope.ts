import { type Filter, type StoredLog } from '../../store/store.ts'

export type Keeps = (log: StoredLog) => boolean

/** Whether the filter lets everything through. */
export const isAny = ({ addresses, topics }: Filter): boolean =>
  addresses.length === 0 && topics.every((values) => values.length === 0)

/** Null where all is kept. */
export const createKeeps = (scope: Filter): Keeps | null => {
  if (isAny(scope)) return null
  const addresses = lower(scope.addresses)
  const positions = scope.topics.map(lower)
  return ({ address, topics }) =>
    (addresses.size === 0 || addresses.has(address)) &&
    positions.every((values, at) => {
      const topic = topics[at]
      return values.size === 0 || (topic !== undefined && values.has(topic))
    })
}

const lower = (values: readonly string[]): ReadonlySet<string> =>
  new Set(values.map((value) => value.toLowerCase()))
