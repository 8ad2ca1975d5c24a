/** Builds a record with a value for each key. */
export const recordFor = <Key extends string, Value>(
  keys: readonly Key[],
  valueOf: (key: Key) => Value,
): Record<Key, Value> => {
  const record: Partial<Record<Key, Value>> = {}
  for (const key of keys) record[key] = valueOf(key)
  if (!hasAll(record, keys)) throw new RangeError('a key without a value')
  return record
}

const hasAll = <Key extends string, Value>(
  record: Partial<Record<Key, Value>>,
  keys: readonly Key[],
): record is Record<Key, Value> => keys.every((key) => key in record)
