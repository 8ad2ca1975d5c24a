import { isDeepStrictEqual } from 'node:util'

/** Returns the last value while the settings are equal; creates a new value when they differ. */
export const createMemoizeLast = <Value>() => {
  let last: { readonly settings: readonly unknown[]; readonly value: Value } | undefined
  return (settings: readonly unknown[], create: () => Value): Value => {
    if (!last || !isDeepStrictEqual(last.settings, settings)) last = { settings, value: create() }
    return last.value
  }
}
