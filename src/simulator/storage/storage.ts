import type { SimulatedNode } from '../node.ts'
import {
  devices,
  type Directive,
  directive,
  type Effect,
  onceOrWhile,
  oneOf,
  percent,
  percentInTime,
} from '../scenario/directives.ts'

/** The layouts of the storage report, named as operators of several versions tell them apart. */
export const LAYOUTS = ['A', 'B', 'C', 'E'] as const

/** How it stands with the node's database, and how the report on it is written. */
export interface Storage {
  readonly layout: (typeof LAYOUTS)[number]
  /** Before the database is moved to pages, while it is, and after; shown by layout E alone. */
  readonly timelines: 'legacy' | 'dual' | 'single'
  readonly devices: number
  readonly sentinel: Sentinel | undefined
  readonly filling: Filling
}

/** A while in which every block of the report is "never set"; without an end, one report long. */
interface Sentinel {
  readonly fromMs: number
  readonly untilMs: number | undefined
}

/** The used share goes from one value to another in a straight line, and stays there. */
interface Filling {
  readonly fromMs: number
  readonly overMs: number
  readonly from: number
  readonly to: number
}

/** 1599 of 7424 chunks. */
const USUAL_SHARE = 1599 / 7424

export const usualStorage: Storage = {
  layout: 'E',
  timelines: 'single',
  devices: 1,
  sentinel: undefined,
  filling: { fromMs: 0, overMs: 0, from: USUAL_SHARE, to: USUAL_SHARE },
}

const usedShareAt = ({ filling }: Storage, ms: number): number => {
  const { fromMs, overMs, from, to } = filling
  if (ms >= fromMs + overMs) return to
  return from + (to - from) * Math.max(0, (ms - fromMs) / overMs)
}

const fillTo = (to: number, overMs: number) => (storage: Storage, atMs: number) => ({
  ...storage,
  filling: { fromMs: atMs, overMs, from: usedShareAt(storage, atMs), to },
})

const changeStorage =
  (change: (storage: Storage, atMs: number) => Storage): Effect =>
  (condition, atMs) => ({ ...condition, storage: change(condition.storage, atMs) })

export const storageDirectives: readonly Directive[] = [
  directive(
    { subject: 'storage', verb: 'used', meaning: 'so much of the database is in use' },
    percent,
    (share) => changeStorage(fillTo(share / 100, 0)),
  ),
  directive(
    {
      subject: 'storage',
      verb: 'fills',
      meaning: 'the use goes there in a straight line; above 80 % the history shrinks',
    },
    percentInTime,
    ({ percent: share, ms }) => changeStorage(fillTo(share / 100, ms)),
  ),
  directive(
    {
      subject: 'mpt',
      verb: 'speaks',
      meaning: 'the storage report has that layout: A is the oldest, E the usual one',
    },
    oneOf(LAYOUTS),
    (layout) => changeStorage((before) => ({ ...before, layout })),
  ),
  directive(
    {
      subject: 'mpt',
      verb: 'timelines',
      meaning:
        'layout E shows the primary timeline, page-encoded (single) or not (legacy), or both',
    },
    oneOf(['single', 'dual', 'legacy']),
    (timelines) => changeStorage((before) => ({ ...before, timelines })),
  ),
  directive(
    { subject: 'mpt', verb: 'devices', meaning: 'the database lies on so many devices' },
    devices,
    (count) => changeStorage((before) => ({ ...before, devices: count })),
  ),
  directive(
    {
      subject: 'mpt',
      verb: 'sentinel',
      meaning: 'every block of the storage report is the mark for "never set"',
    },
    onceOrWhile,
    ({ ms }) =>
      changeStorage((before, atMs) => ({
        ...before,
        sentinel: { fromMs: atMs, untilMs: ms === undefined ? undefined : atMs + ms },
      })),
  ),
]

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
