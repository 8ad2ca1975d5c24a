/** The owner of each token id that was handed over alone, the zero address for one that was burned. */
export interface Owners {
  /** As many ids as are known, or more. */
  readonly size: number
  get(id: bigint): string | undefined
  set(id: bigint, owner: string): void
  delete(id: bigint): void
  /** How many he has. */
  countOf(owner: string): number
  entries(): Iterable<OwnerEntry>
}

export type OwnerEntry = readonly [id: bigint, owner: string]

/** Plainly: what a faster one is compared with. */
export class MapOwners implements Owners {
  readonly #owners = new Map<bigint, string>()

  get size(): number {
    return this.#owners.size
  }

  get(id: bigint): string | undefined {
    return this.#owners.get(id)
  }

  set(id: bigint, owner: string): void {
    this.#owners.set(id, owner)
  }

  delete(id: bigint): void {
    this.#owners.delete(id)
  }

  countOf(owner: string): number {
    let count = 0
    for (const one of this.#owners.values()) if (one === owner) count += 1
    return count
  }

  entries(): Iterable<OwnerEntry> {
    return this.#owners.entries()
  }
}

/** Those from the first to the last, both included: a range may be far longer than all that is known. */
export const ownersWithin = (
  owners: Owners,
  first: bigint,
  last: bigint,
): readonly OwnerEntry[] => {
  if (last - first > owners.size) {
    return [...owners.entries()].filter(([id]) => id >= first && id <= last)
  }
  const found: OwnerEntry[] = []
  for (let id = first; id <= last; id += 1n) {
    const owner = owners.get(id)
    if (owner !== undefined) found.push([id, owner])
  }
  return found
}
