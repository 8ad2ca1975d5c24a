import type { SimulatedNode } from '../node.ts'
import { type Storage, usedShareAt } from '../scenario/storage.ts'

const MIB = 2 ** 20
export const CHUNK = 256 * MIB
const CHUNKS = 7424
/** The last chunk of each list is not full. */
export const UNUSED = { fast: 48 * MIB, slow: 23 * MIB } as const

const RETAINED = 16_777_216
const HISTORY = 642_000
/** Above this share of use a node shortens its history, down to a minimum. */
const SHORTENS_FROM = 0.8
const LEAST_HISTORY = 300

/** The database of a node in numbers; of one device where there are several, all alike. */
export interface StorageUse {
  readonly capacity: number
  readonly used: number
  readonly fast: number
  readonly slow: number
  readonly free: number
  /** How many blocks it holds, and how many it may hold. */
  readonly history: bigint
  readonly retained: bigint
}

export const storageUse = (node: SimulatedNode): StorageUse =>
  storageUseAt(node.condition().storage, node.now())

export const storageUseAt = (storage: Storage, ms: number): StorageUse => {
  const share = usedShareAt(storage, ms)
  const chunks = Math.round(share * CHUNKS)
  const slow = Math.floor((chunks * 212) / 1599)
  const beyond = (share - SHORTENS_FROM) / (1 - SHORTENS_FROM)
  const shortened = Math.max(LEAST_HISTORY, Math.round(HISTORY * (1 - beyond)))
  return {
    capacity: CHUNKS * CHUNK,
    used: Math.max(0, chunks * CHUNK - UNUSED.fast - UNUSED.slow),
    fast: chunks - slow,
    slow,
    free: CHUNKS - chunks,
    history: BigInt(beyond > 0 ? shortened : HISTORY),
    retained: BigInt(beyond > 0 ? shortened : RETAINED),
  }
}

/** Binary multiples under decimal names; the next unit begins at nine tenths of it. */
export const bytes = (count: number): string => {
  const units = ['bytes', 'Kb', 'Mb', 'Gb', 'Tb']
  const power = Math.max(
    0,
    units.findLastIndex((_, index) => count >= 0.9 * 1024 ** index),
  )
  return `${(count / 1024 ** power).toFixed(2)} ${units[power]}`
}

export const percentUsed = ({ used, capacity }: StorageUse): string =>
  ((100 * used) / capacity).toFixed(2)
