import { isDeepStrictEqual } from 'node:util'

/** Returns the value created last while the settings are equal, and creates another when they differ. */
export const createReuse = <Value>() => {
  let last: { readonly settings: readonly unknown[]; readonly value: Value } | undefined
  return (settings: readonly unknown[], create: () => Value): Value => {
    if (!last || !isDeepStrictEqual(last.settings, settings)) last = { settings, value: create() }
    return last.value
  }
}
