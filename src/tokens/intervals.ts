import { type Interval } from './types.ts'

/** Ranges of token ids without overlaps, in order. The cost does not depend on the number of ids in a range. */
export class Intervals {
  readonly #list: Interval[] = []

  get size(): number {
    return this.#list.length
  }

  list(): readonly Interval[] {
    return this.#list
  }

  ownerOf(id: bigint): string | undefined {
    const found = this.#list[this.#firstEndingAt(id)]
    return found !== undefined && found.from <= id ? found.owner : undefined
  }

  /** The parts of the ranges that are within these ids. */
  within(from: bigint, to: bigint): readonly Interval[] {
    const found: Interval[] = []
    for (let at = this.#firstEndingAt(from); at < this.#list.length; at += 1) {
      const one = this.#list[at]
      if (one === undefined || one.from > to) break
      found.push({
        from: one.from < from ? from : one.from,
        to: one.to > to ? to : one.to,
        owner: one.owner,
      })
    }
    return found
  }

  /** Replaces the owners of these ids. */
  assign(added: Interval): void {
    const { from, to } = added
    const start = this.#firstEndingAt(from)
    let end = start
    const pieces: Interval[] = [added]
    for (; end < this.#list.length; end += 1) {
      const one = this.#list[end]
      if (one === undefined || one.from > to) break
      if (one.from < from) pieces.unshift({ ...one, to: from - 1n })
      if (one.to > to) pieces.push({ ...one, from: to + 1n })
    }
    this.#list.splice(start, end - start, ...pieces)
  }

  /** The ranges without these ids. */
  without(ids: readonly bigint[]): readonly Interval[] {
    const rest: Interval[] = []
    const removed = ids.filter((id) => this.ownerOf(id) !== undefined).sort((a, b) => (a < b ? -1 : 1))
    let at = 0
    for (const one of this.#list) {
      let { from } = one
      for (; at < removed.length; at += 1) {
        const id = removed[at]
        if (id === undefined || id > one.to) break
        if (id > from) rest.push({ ...one, from, to: id - 1n })
        from = id + 1n
      }
      if (from <= one.to) rest.push({ ...one, from })
    }
    return rest
  }

  #firstEndingAt(id: bigint): number {
    let low = 0
    let high = this.#list.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const one = this.#list[middle]
      if (one !== undefined && one.to < id) low = middle + 1
      else high = middle
    }
    return low
  }
}
