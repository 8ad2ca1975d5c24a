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

/** The layouts of the storage report, from the oldest to the newest version. */
export const LAYOUTS = ['A', 'B', 'C', 'E'] as const

/** The state of the node's database, and the layout of the report. */
export interface Storage {
  readonly layout: (typeof LAYOUTS)[number]
  /** Before, during and after the migration to page encoding; only layout E shows it. */
  readonly timelines: 'legacy' | 'dual' | 'single'
  readonly devices: number
  readonly sentinel: Sentinel | undefined
  readonly filling: Filling
}

/** A period in which every block of the report is "never set"; without an end, it is one report long. */
interface Sentinel {
  readonly fromMs: number
  readonly untilMs: number | undefined
}

/** The used share changes linearly from one value to another. */
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
  directive({ subject: 'storage', verb: 'used', meaning: 'the used share of the database' }, percent, (share) =>
    changeStorage(fillTo(share / 100, 0)),
  ),
  directive(
    {
      subject: 'storage',
      verb: 'fills',
      meaning: 'the used share changes linearly to that value; above 80 % the history shrinks',
    },
    percentInTime,
    ({ percent: share, ms }) => changeStorage(fillTo(share / 100, ms)),
  ),
  directive(
    {
      subject: 'mpt',
      verb: 'speaks',
      meaning: 'the storage report has that layout: A is the oldest, E the default',
    },
    oneOf(LAYOUTS),
    (layout) => changeStorage((before) => ({ ...before, layout })),
  ),
  directive(
    {
      subject: 'mpt',
      verb: 'timelines',
      meaning: 'layout E shows the primary timeline, page-encoded (single) or not (legacy), or both',
    },
    oneOf(['single', 'dual', 'legacy']),
    (timelines) => changeStorage((before) => ({ ...before, timelines })),
  ),
  directive({ subject: 'mpt', verb: 'devices', meaning: 'the number of devices of the database' }, devices, (count) =>
    changeStorage((before) => ({ ...before, devices: count })),
  ),
  directive(
    {
      subject: 'mpt',
      verb: 'sentinel',
      meaning: 'every block number in the storage report is the value for "never set"',
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
/** Free bytes in the last chunk of each list. */
export const UNUSED = { fast: 48 * MIB, slow: 23 * MIB } as const

const RETAINED = 16_777_216
const HISTORY = 642_000
/** Above this used share a node shortens its history, down to a minimum. */
const SHORTENS_FROM = 0.8
const LEAST_HISTORY = 300

/** Size and use of the database; per device if there are several, all alike. */
export interface StorageUse {
  readonly capacity: number
  readonly used: number
  readonly fast: number
  readonly slow: number
  readonly free: number
  /** How many blocks it holds; `retained`: how many it may hold. */
  readonly history: bigint
  readonly retained: bigint
}

export const storageUse = (node: SimulatedNode): StorageUse => storageUseAt(node.condition().storage, node.now())

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

/** Binary multiples with decimal names; the next unit is used from 0.9 of it on. */
export const bytes = (count: number): string => {
  const units = ['bytes', 'Kb', 'Mb', 'Gb', 'Tb']
  const power = Math.max(
    0,
    units.findLastIndex((_, index) => count >= 0.9 * 1024 ** index),
  )
  return `${(count / 1024 ** power).toFixed(2)} ${units[power]}`
}

export const percentUsed = ({ used, capacity }: StorageUse): string => ((100 * used) / capacity).toFixed(2)
