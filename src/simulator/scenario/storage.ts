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

export const usedShareAt = ({ filling }: Storage, ms: number): number => {
  const { fromMs, overMs, from, to } = filling
  if (ms >= fromMs + overMs) return to
  return from + (to - from) * Math.max(0, (ms - fromMs) / overMs)
}

export const fillTo = (to: number, overMs: number) => (storage: Storage, atMs: number) => ({
  ...storage,
  filling: { fromMs: atMs, overMs, from: usedShareAt(storage, atMs), to },
})
