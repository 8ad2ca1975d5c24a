import { type Interval } from './types.ts'

/** Ranges of token ids that do not overlap, in order: one of 2^255 ids costs as much as one of two. */
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

  /** The parts of the list that lie within these ids, cut to them. */
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

  /** What was known of these ids is replaced. */
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
    const left: Interval[] = []
    const taken = ids
      .filter((id) => this.ownerOf(id) !== undefined)
      .sort((a, b) => (a < b ? -1 : 1))
    let at = 0
    for (const one of this.#list) {
      let { from } = one
      for (; at < taken.length; at += 1) {
        const id = taken[at]
        if (id === undefined || id > one.to) break
        if (id > from) left.push({ ...one, from, to: id - 1n })
        from = id + 1n
      }
      if (from <= one.to) left.push({ ...one, from })
    }
    return left
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
