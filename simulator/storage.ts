import type { SimulatedNode } from './subject.ts'
import {
  deviceCount,
  directive,
  type Directive,
  onceOrWhile,
  oneOf,
  percent,
  percentInTime,
  setIn,
  taking,
} from './scenario/directives.ts'
import { digest } from './chain.ts'
import { drift } from './format-drift.ts'
import type { Frame, Tool } from './tools/tools.ts'

declare module './scenario/timeline.ts' {
  interface Condition {
    readonly storage: Storage
  }
}

/** The layouts of the storage report, from the oldest to the newest version. */
const LAYOUTS = ['A', 'B', 'C', 'E'] as const

/** The state of the node's database, and the layout of the report. */
export interface Storage {
  readonly layout: (typeof LAYOUTS)[number]
  /** Before, during and after the migration to page encoding; only layout E shows it. */
  readonly timelines: 'legacy' | 'dual' | 'promoted' | 'single'
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
  filling: { fromMs: atMs, overMs, from: usedShareAt(storage, atMs), to },
})

const changeStorage = setIn('storage')

export const storageDirectives: readonly Directive[] = [
  directive(
    'storage used',
    'the used share of the database',
    taking(percent, (share) => changeStorage(fillTo(share / 100, 0))),
  ),
  directive(
    'storage fills',
    'the used share changes linearly to that value; above 80 % the history shrinks',
    taking(percentInTime, ({ percent: share, ms }) => changeStorage(fillTo(share / 100, ms))),
  ),
  directive(
    'mpt prints',
    'the storage report has that layout: A is the oldest, E the default',
    taking(oneOf(LAYOUTS), (layout) => changeStorage({ layout })),
  ),
  directive(
    'mpt timelines',
    'layout E shows the primary timeline, page-encoded (single) or not (legacy), or both; promoted: the primary is page-encoded',
    taking(oneOf(['single', 'dual', 'promoted', 'legacy']), (timelines) => changeStorage({ timelines })),
  ),
  directive(
    'mpt devices',
    'the number of devices of the database',
    taking(deviceCount, (devices) => changeStorage({ devices })),
  ),
  directive(
    'mpt sentinel',
    'every block number in the storage report is the value for "never set"',
    taking(onceOrWhile, ({ ms }) =>
      changeStorage((_, atMs) => ({ sentinel: { fromMs: atMs, untilMs: ms === undefined ? undefined : atMs + ms } })),
    ),
  ),
]

const MIB = 2 ** 20
const CHUNK = 256 * MIB
const CHUNKS = 7424
/** Free bytes in the last chunk of each list. */
const UNUSED = { fast: 48 * MIB, slow: 23 * MIB } as const

const RETAINED = 16_777_216
const HISTORY = 642_000
/** Above this used share a node shortens its history, down to a minimum. */
const SHORTENS_FROM = 0.8
const LEAST_HISTORY = 300

/** Size and use of the database; per device if there are several, all alike. */
type StorageUse = ReturnType<typeof storageUseAt>

export const storageUse = (node: SimulatedNode): StorageUse => storageUseAt(node.condition().storage, node.now())

export const storageUseAt = (storage: Storage, ms: number) => {
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
    /** How many blocks it holds; `retained`: how many it may hold. */
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

/** The simulated tool that reports on the node's database; supports only `--storage`. */
export const createStorageTool = (node: SimulatedNode): Tool => {
  const isNeverSet = createSentinel(node)
  return (argv) => {
    const devices = readDevices(argv)
    if (typeof devices === 'string') return fail(devices)
    const { storage, formatsDrift } = node.condition()
    const use = storageUse(node)
    const known = historyOf(node, use)
    const text = [
      ...renderDevices(allDevices(devices, storage.devices), use),
      ...renderHistory(isNeverSet() ? neverSet(known) : known, node),
      '',
    ].join('\n')
    return [{ stdout: formatsDrift ? drift.mpt(text) : text }, { exit: 0 }]
  }
}

/** Whether the next report must show "never set"; `once` applies to one report. */
const createSentinel = (node: SimulatedNode): (() => boolean) => {
  let servedMs: number | undefined
  return () => {
    const { sentinel } = node.condition().storage
    if (!sentinel) return false
    const { fromMs, untilMs } = sentinel
    if (untilMs !== undefined) return node.now() < untilMs
    const isFirst = servedMs !== fromMs
    servedMs = fromMs
    return isFirst
  }
}

const readDevices = (argv: readonly string[]): readonly string[] | string => {
  const devices: string[] = []
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? ''
    const value = word === '--storage' ? argv[(index += 1)] : /^--storage=(.+)$/.exec(word)?.[1]
    if (value === undefined) return `The following argument was not expected: ${word}`
    devices.push(value)
  }
  return devices.length > 0 ? devices : '--storage is required'
}

const fail = (reason: string): readonly Frame[] => [
  { stderr: `FATAL: ${reason}\nRun with --help for more information.\n` },
  { exit: 1 },
]

/** The report shows the device that a symbolic link points to. */
const resolve = (device: string): string => (device === '/dev/triedb' ? '/dev/nvme3n1p2' : device)

/** The requested devices and the other devices of the database. */
const allDevices = (requested: readonly string[], count: number): readonly string[] => [
  ...requested.map(resolve),
  ...Array.from({ length: Math.max(0, count - requested.length) }, (_, index) => `/dev/nvme${4 + index}n1p2`),
]

const renderDevices = (devices: readonly string[], use: StorageUse): readonly string[] => {
  const sizes = `${bytes(use.capacity).padStart(15)}${bytes(use.used).padStart(15)}`
  const list = (name: string, chunks: number, unused: number): string => {
    const capacity = chunks * devices.length * CHUNK
    const taken = Math.max(0, capacity - unused * devices.length)
    return chunks === 0
      ? `     ${name}: 0 chunks`
      : `     ${name}: ${chunks * devices.length} chunks with capacity ${bytes(capacity)} used ${bytes(taken)}`
  }
  return [
    'MPT database on storages:',
    '          Capacity           Used      %  Path',
    ...devices.map((device) => `   ${sizes}${percentUsed(use).padStart(6)}%  ${JSON.stringify(device)}`),
    'MPT database internal lists:',
    list('Fast', use.fast, UNUSED.fast),
    list('Slow', use.slow, UNUSED.slow),
    list('Free', use.free, use.free * CHUNK),
  ]
}

const NEVER_SET = 2n ** 64n - 1n

/** The blocks in the report. */
const historyOf = ({ heights, now, chain }: SimulatedNode, { history, retained }: StorageUse) => {
  const latest = heights.execution(now())
  const reference = (number: bigint) => {
    const block = chain.block(number)
    return { number, round: block?.round ?? 0n, id: block?.id ?? digest('no block', number) }
  }
  return {
    history,
    retained,
    earliest: latest - history + 1n,
    latest,
    proposed: reference(latest),
    voted: reference(latest - 1n),
    finalized: latest - 2n,
    verified: latest - 5n,
    neverSet: false,
  }
}

type History = ReturnType<typeof historyOf>

/** The report on a new database, and briefly while the node swaps its metadata. */
const neverSet = ({ retained }: History): History => {
  const reference = { number: NEVER_SET, round: NEVER_SET, id: '0'.repeat(64) }
  return {
    history: 1n,
    retained,
    earliest: NEVER_SET,
    latest: NEVER_SET,
    proposed: reference,
    voted: reference,
    finalized: NEVER_SET,
    verified: NEVER_SET,
    neverSet: true,
  }
}

type Lines = readonly string[]

const older = (known: History, places: Lines): Lines => [
  `MPT database has ${known.history} history, earliest is ${known.earliest} latest is ${known.latest}.`,
  `     It has been configured to retain no more than ${known.retained}.`,
  ...places,
  `     Latest finalized is ${known.finalized}, latest verified is ${known.verified}, auto expire version is ${known.neverSet ? 0n : known.earliest}`,
]

const proposedLine = ({ proposed: { number, id } }: History): string => `     Latest proposed is (${number}, ${id}).`

const votedLine = ({ voted: { number, id } }: History): string => `     Latest voted is (${number}, ${id}).`

const newer = (known: History, timelines: Lines): Lines => [
  `MPT database has been configured to retain no more than ${known.retained} versions.`,
  proposedLine(known),
  votedLine(known),
  `     Latest finalized is ${known.finalized}, latest verified is ${known.verified}`,
  'Active timelines:',
  ...timelines,
]

const timelineLines = (
  known: History,
  [name, kind, history]: readonly [name: string, kind: string, history: bigint],
): Lines => {
  const earliest = known.latest - history + 1n
  return [
    `     ${name}:`,
    `        State machine kind: ${kind}`,
    known.neverSet
      ? '        History: empty (no roots written yet)'
      : `        History: ${history} versions, earliest is ${earliest}, latest is ${known.latest}`,
    `        Auto expire version: ${known.neverSet ? 0n : earliest}`,
  ]
}

/** The secondary timeline starts later. */
export const SECONDARY_HISTORY = 328_075n

/** The end of the report, in each layout. */
const renderHistory = (known: History, { condition, prefix }: SimulatedNode): Lines => {
  const { layout, timelines } = condition().storage
  const { history } = known
  if (layout === 'A') {
    const { number, round } = known.voted
    return older(known, [`     Latest voted is (${number}, ${round}).`])
  }
  if (layout === 'B') return older(known, [votedLine(known)])
  if (layout === 'C') return older(known, [proposedLine(known), votedLine(known)])
  if (timelines === 'single' || timelines === 'legacy') {
    const kind = timelines === 'legacy' ? 'ethereum' : prefix
    return newer(known, timelineLines(known, ['Primary', kind, history]))
  }
  const second = history < SECONDARY_HISTORY ? history : SECONDARY_HISTORY
  const [first, other] = timelines === 'promoted' ? [prefix, 'ethereum'] : ['ethereum', prefix]
  return newer(known, [
    ...timelineLines(known, ['Primary', first, history]),
    ...timelineLines(known, ['Secondary', other, second]),
  ])
}
