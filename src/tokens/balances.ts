import { type SnapshotWriter } from './snapshot.ts'

/** Balances by address and id; those of 0 are as good as absent. */
export interface Balances {
  add(address: string, id: bigint, amount: bigint): void
  get(address: string, id: bigint): bigint
  hasNegative(): boolean
  entries(): Iterable<BalanceEntry>
  write(to: SnapshotWriter): void
}

export type BalanceEntry = readonly [address: string, id: bigint, balance: bigint]

/** Plainly: what a faster one is compared with. */
export class MapBalances implements Balances {
  readonly #ids = new Map<bigint, Map<string, bigint>>()

  add(address: string, id: bigint, amount: bigint): void {
    const holders = this.#ids.get(id) ?? new Map<string, bigint>()
    this.#ids.set(id, holders)
    const balance = (holders.get(address) ?? 0n) + amount
    if (balance === 0n) holders.delete(address)
    else holders.set(address, balance)
  }

  get(address: string, id: bigint): bigint {
    return this.#ids.get(id)?.get(address) ?? 0n
  }

  hasNegative(): boolean {
    for (const [, , balance] of this.entries()) if (balance < 0n) return true
    return false
  }

  *entries(): Generator<BalanceEntry> {
    for (const [id, holders] of this.#ids) {
      for (const [address, balance] of holders) yield [address, id, balance]
    }
  }

  write(to: SnapshotWriter): void {
    for (const [address, id, balance] of this.entries()) {
      to.address(address)
      to.big(id)
      to.big(balance)
    }
  }
}
