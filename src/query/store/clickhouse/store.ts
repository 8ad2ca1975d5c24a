import type { Block, LogStore, StoreRange } from '../store.ts'
import { StoreError } from '../errors.ts'
import { expectContinuation } from '../checks.ts'
import { createDensity } from './density.ts'
import { headsOf } from './heads.ts'
import { loadHeld, proveNewest, type Held } from './held.ts'
import { openServers, type ClickHouseOptions } from './open.ts'
import { dropBelow, raiseFloor } from './prune.ts'
import { readLogs } from './read.ts'
import { bytesOnDisk } from './size.ts'
import { claimEpoch, heldWith, writeBlocks } from './write.ts'

/** Logs in ClickHouse, on one server or on many. `url` as docs/query-service.md tells; the password is not in it. */
export const openClickHouseStore = async (
  url: string,
  options: ClickHouseOptions,
): Promise<LogStore> => {
  const { servers, made } = await openServers(url, options)
  let held = await loadHeld(servers)
  if (held !== null) await proveNewest(servers, held)
  /** Ours; null: the next to write has to claim one, and to look what there is. */
  let epoch: number | null = null
  /** What an insert without an answer came to is not known. */
  let certain = true
  let last: Promise<unknown> = Promise.resolve()

  /** One after the other. */
  const inTurn = async <T>(step: () => Promise<T>): Promise<T> => {
    const turn = last.then(step)
    last = turn.catch(() => undefined)
    return turn
  }
  const known = async (): Promise<Held | null> => {
    if (!certain) held = await loadHeld(servers)
    certain = true
    return held
  }
  const add = async (blocks: readonly Block[]): Promise<void> => {
    const before = await known()
    expectContinuation(rangeOf(before), blocks)
    if (blocks.length === 0) return
    try {
      epoch ??= await claimEpoch(servers)
      await writeBlocks(servers, blocks, epoch)
      const density = before?.density ?? createDensity(new Map())
      held = heldWith(before, blocks, { epoch, density })
    } catch (error) {
      epoch = null
      certain = false
      throw error
    }
  }
  const forget = async (firstKept: number): Promise<void> => {
    const before = await known()
    if (before === null) return
    const floor = Math.min(firstKept, before.last)
    if (floor <= before.first) return
    certain = false
    await raiseFloor(servers, floor)
    await known()
    await dropBelow(servers, { floor, partition: made.partition })
  }

  return {
    chainId: made.chainId,
    range: async () => rangeOf(certain ? held : await inTurn(known)),
    append: async (blocks) => inTurn(async () => add(blocks)),
    read: async (selection, signal) => {
      if (held === null)
        throw new StoreError('empty', { doing: 'read logs', happened: 'nothing is held' })
      return readLogs({ servers, clock: options.clock, held, signal }, selection)
    },
    heads: async (numbers) => (held === null ? [] : headsOf({ servers, held }, numbers)),
    prune: async (firstKept) => inTurn(async () => forget(firstKept)),
    size: async () => ({
      bytes: await bytesOnDisk(servers),
      logs: held?.logs ?? 0,
      blocks: held === null ? 0 : held.last - held.first + 1,
    }),
    close: async () => {
      await last
    },
  }
}

const rangeOf = (held: Held | null): StoreRange | null =>
  held === null ? null : { first: held.first, last: held.last, lastHash: held.lastHash }
