import { OwnerTable } from './fast/owner-table.ts'
import { ADDRESS_WORDS, EVM_WORDS, Limbs, type Rows, TO, VALUE } from './fast/packed-words.ts'
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
    to.optional(this.#owners === undefined ? null : owners.length)
    for (const [id, owner] of owners) {
      to.big(id)
      to.address(owner)
    }
  }

  /** Call on a new check only. */
  read(from: SnapshotReader): void {
    const count = from.optional()
    for (let left = count ?? 0; left > 0; left -= 1) this.#owners?.set(from.big(), from.address())
    if (count === null) this.#owners = undefined
  }
}

/** Below are small numbers, as most ids are. */
const MIN_ADDRESS = 2n ** 64n
const MAX_ADDRESS = 2n ** 160n

/**
 * Whether each recipient is a small number and each amount has the size of an address. An event that indexes the id in
 * the place of an address, such as `Transfer(address indexed from, address to, uint256 indexed id)`, logs the same number
 * of topics and bytes as an ERC-20. Ends at the first transfer that contradicts it.
 */
export class LayoutCheck {
  /** At most `ENOUGH`; null after a contradiction. */
  #indications: number | null = 0
  readonly #limbs = new Limbs()

  get isPossible(): boolean {
    return this.#indications === ENOUGH
  }

  apply({ words, count, step }: Rows): void {
    for (let row = 0; row < count && this.#indications !== null; row += 1) {
      const to = this.#limbs.read(words, row * step + TO, ADDRESS_WORDS)
      this.add(to, this.#limbs.read(words, row * step + VALUE, EVM_WORDS))
    }
  }

  add(to: bigint, amount: bigint): void {
    if (this.#indications === null) return
    const isId = to < MIN_ADDRESS
    const isAddress = amount === 0n || (amount >= MIN_ADDRESS && amount < MAX_ADDRESS)
    if (!isId || !isAddress) this.#indications = null
    // The id 0 looks like a burn, and a burn of the id like an amount of 0.
    else if (to > 0n && amount > 0n) this.#indications = Math.min(ENOUGH, this.#indications + 1)
  }

  write(to: SnapshotWriter): void {
    to.optional(this.#indications)
  }

  read(from: SnapshotReader): void {
    this.#indications = from.optional()
  }
}

/** A single transfer to a precompiled contract or to 0x...dEaD is no indication. */
const ENOUGH = 2
