interface Order<T> {
  /** Never falls where `compare` says that the order rises; as good as can be. */
  readonly key: (one: T) => number
  readonly compare: (a: T, b: T) => number
}

/** In order by a number first, which is compared ten times as fast as what it stands for. */
export const sorted = <T>(list: readonly T[], { key, compare }: Order<T>): readonly T[] =>
  list
    .map((one) => ({ one, key: key(one) }))
    .sort((a, b) => a.key - b.key || compare(a.one, b.one))
    .map(({ one }) => one)
