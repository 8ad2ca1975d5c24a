import { OwnerTable } from './fast/packed-owners.ts'
import { AMOUNT, FROM, ID, Limbs, putAddress, type Rows, TO } from './fast/packed-words.ts'
import type { SnapshotReader, SnapshotWriter } from './state.ts'

/**
 * Whether the amounts of a whole history may be ids: each belonged to one owner at a time and moved as a whole. An ERC-721
 * that does not index the id logs the same bytes as an ERC-20. Ends, and frees its memory, at the first transfer that
 * contradicts it, which is among the first ones of most ERC-20 tokens.
 */
export class IdCheck {
  #owners: OwnerTable | undefined = new OwnerTable(true)
  readonly #row = new Int32Array(ID)
  readonly #limbs = new Limbs()

  /** A single amount is no indication: many tokens mint their supply once. */
  get isPossible(): boolean {
    return this.#owners !== undefined && this.#owners.size > 1
  }

  applyRows({ words, end, step }: Rows): void {
    for (let at = 0; this.#owners !== undefined && at < end; at += step) this.#apply(words, at)
  }

  apply({ from, to, amount }: { readonly from: string; readonly to: string; readonly amount: bigint }): void {
    if (this.#owners === undefined) return
    putAddress(from, this.#row, FROM)
    putAddress(to, this.#row, TO)
    this.#limbs.set(amount)
    this.#row.set(this.#limbs.words.subarray(0, ID - AMOUNT), AMOUNT)
    this.#apply(this.#row, 0)
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

  #apply(words: Int32Array, row: number): void {
    if (this.#owners?.move(words, row, row + AMOUNT) === false) this.#owners = undefined
  }
}
