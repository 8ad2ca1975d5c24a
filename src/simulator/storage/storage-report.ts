import { digest } from '../chain/random.ts'
import { drift } from '../format-drift.ts'
import type { SimulatedNode } from '../node.ts'
import type { Frame, Tool } from '../tools/tools.ts'
import { bytes, CHUNK, percentUsed, type StorageUse, storageUse, UNUSED } from './storage.ts'

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

/** The blocks in the report. */
interface History {
  readonly history: bigint
  readonly retained: bigint
  readonly earliest: bigint
  readonly latest: bigint
  readonly proposed: BlockReference
  readonly voted: BlockReference
  readonly finalized: bigint
  readonly verified: bigint
  readonly neverSet: boolean
}

interface BlockReference {
  readonly number: bigint
  readonly round: bigint
  readonly id: string
}

const NEVER_SET = 2n ** 64n - 1n

const historyOf = ({ heights, now, chain }: SimulatedNode, { history, retained }: StorageUse): History => {
  const latest = heights.execution(now())
  const reference = (number: bigint): BlockReference => {
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

interface ReportedTimeline {
  readonly name: 'Primary' | 'Secondary'
  readonly kind: string
  readonly history: bigint
}

const timelineLines = (known: History, { name, kind, history }: ReportedTimeline): Lines => {
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
  if (timelines !== 'dual') {
    const kind = timelines === 'legacy' ? 'ethereum' : prefix
    return newer(known, timelineLines(known, { name: 'Primary', kind, history }))
  }
  const second = history < SECONDARY_HISTORY ? history : SECONDARY_HISTORY
  return newer(known, [
    ...timelineLines(known, { name: 'Primary', kind: 'ethereum', history }),
    ...timelineLines(known, { name: 'Secondary', kind: prefix, history: second }),
  ])
}
