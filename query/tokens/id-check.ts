import { OwnerTable } from './fast/owner-table.ts'
import type { Rows } from './fast/packed-words.ts'
import type { SnapshotReader, SnapshotWriter } from './state.ts'

/**
 * Whether the amounts of a whole history may be ids: each belonged to one owner at a time and moved as a whole. An ERC-721
 * that does not index the id logs the same bytes as an ERC-20. Ends, and frees its memory, at the first transfer that
 * contradicts it, which is among the first ones of most ERC-20 tokens.
 */
export class IdCheck {
  #owners: OwnerTable | undefined = new OwnerTable(true)

  /** A single amount is no indication: many tokens mint their supply once. */
  get isPossible(): boolean {
    return this.#owners !== undefined && this.#owners.size > 1
  }

  apply({ words, count, step }: Rows): void {
    for (let row = 0; row < count && this.#owners !== undefined; row += 1) {
      if (!this.#owners.move(words, row * step)) this.#owners = undefined
    }
  }

  write(to: SnapshotWriter): void {
    const owners = [...(this.#owners?.entries() ?? [])]
    to.big(this.#owners === undefined ? -1n : BigInt(owners.length))
    for (const [id, owner] of owners) {
      to.big(id)
      to.address(owner)
    }
  }

  /** Call on a new check only. */
  read(from: SnapshotReader): void {
    const count = from.big()
    for (let left = count; left > 0n; left -= 1n) this.#owners?.set(from.big(), from.address())
    if (count < 0n) this.#owners = undefined
  }
}
