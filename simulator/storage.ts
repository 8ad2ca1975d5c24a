import type { SimulatedNode } from './subject.ts'
import {
  courseTo,
  directiveTable,
  goalInTime,
  numberAt,
  oneOf,
  percent,
  setIn,
  settingOf,
  steady,
  taking,
} from './scenario/directives.ts'
import type { Effect } from './scenario/timeline.ts'
import { digest } from './chain.ts'
import { drift } from './format-drift.ts'
import { createGrammar, type Frame, parseArguments, type Tool } from './tools/tools.ts'
import { widen } from '../src/core/widen.ts'

/** 1599 of 7424 chunks. */
const USUAL_SHARE = 1599 / 7424

/** The state of the node's database. */
export const usualStorage = {
  /** Before, during and after the migration to page encoding. */
  timelines: widen<'legacy' | 'dual' | 'promoted' | 'single'>('single'),
  usedShare: steady(USUAL_SHARE),
}

export type Storage = Readonly<typeof usualStorage>

const fillTo = (usedPercent: number, overMs: number): Effect =>
  setIn('storage')(({ usedShare }, atMs) => ({
    usedShare: courseTo({ to: usedPercent / 100, overMs }, usedShare, atMs),
  }))

const percentInTime = goalInTime('a percentage and a duration, such as "95 in 10m"', '', 100)

export const storageDirectives = directiveTable({
  'storage used': ['the used share of the database', taking(percent, (to) => fillTo(to, 0))],
  'storage fills': [
    'the used share changes linearly to that value; above 80 % the history shrinks',
    taking(percentInTime, ({ to, overMs }) => fillTo(to, overMs)),
  ],
  'mpt timelines': [
    'the report shows the primary timeline, page-encoded (single) or not (legacy), or both; promoted: the primary is page-encoded',
    settingOf('storage', 'timelines', oneOf(['single', 'dual', 'promoted', 'legacy'])),
  ],
})

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

/** Size and use of the database. */
export const storageUseAt = ({ usedShare }: Storage, ms: number) => {
  const share = numberAt(usedShare, ms)
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

type StorageUse = ReturnType<typeof storageUseAt>

/** Binary multiples with decimal names; the next unit is used from 0.9 of it on. */
const bytes = (count: number): string => {
  const units = ['bytes', 'Kb', 'Mb', 'Gb', 'Tb']
  const power = Math.max(
    0,
    units.findLastIndex((_, index) => count >= 0.9 * 1024 ** index),
  )
  return `${(count / 1024 ** power).toFixed(2)} ${units[power]}`
}

const percentUsed = ({ used, capacity }: StorageUse): string => ((100 * used) / capacity).toFixed(2)

/** The simulated tool that reports on the node's database; supports only `--storage`. */
export const createStorageTool =
  (node: SimulatedNode): Tool =>
  (argv) => {
    const read = parseArguments(GRAMMAR, argv)
    if (typeof read === 'string') return fail(read)
    const devices = read.options.get('storage') ?? []
    if (devices.length === 0) return fail('--storage is required')
    const use = storageUseAt(node.condition().storage, node.now())
    const text = [...renderDevices(devices.map(resolve), use), ...renderHistory(node, use), ''].join('\n')
    return [{ stdout: node.condition().formatsDrift ? drift.mpt(text) : text }, { exit: 0 }]
  }

const GRAMMAR = createGrammar('storage=')

const fail = (reason: string): readonly Frame[] => [
  { stderr: `FATAL: ${reason}\nRun with --help for more information.\n` },
  { exit: 1 },
]

/** The report shows the device that a symbolic link points to. */
const resolve = (device: string): string => (device === '/dev/triedb' ? '/dev/nvme3n1p2' : device)

const renderDevices = (devices: readonly string[], use: StorageUse): readonly string[] => {
  const sizes = `${bytes(use.capacity).padStart(15)}${bytes(use.used).padStart(15)}`
  const list = (name: string, chunks: number, unused: number): string => {
    const capacity = chunks * CHUNK
    return chunks === 0
      ? `     ${name}: 0 chunks`
      : `     ${name}: ${chunks} chunks with capacity ${bytes(capacity)} used ${bytes(Math.max(0, capacity - unused))}`
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

/** The secondary timeline starts later. */
export const SECONDARY_HISTORY = 328_075n

/** The end of the report. */
const renderHistory = (node: SimulatedNode, { history, retained }: StorageUse): readonly string[] => {
  const { chain, prefix } = node
  const { timelines } = node.condition().storage
  const latest = node.heights.execution(node.now())
  const reference = (number: bigint): string => `(${number}, ${chain.block(number)?.id ?? digest('no block', number)})`
  const timeline = (name: string, kind: string, blocks: bigint): readonly string[] => [
    `     ${name}:`,
    `        State machine kind: ${kind}`,
    `        History: ${blocks} versions, earliest is ${latest - blocks + 1n}, latest is ${latest}`,
    `        Auto expire version: ${latest - blocks + 1n}`,
  ]
  const [first, second] = KINDS[timelines].map((kind) => (kind === 'page' ? prefix : 'ethereum'))
  return [
    `MPT database has been configured to retain no more than ${retained} versions.`,
    `     Latest proposed is ${reference(latest)}.`,
    `     Latest voted is ${reference(latest - 1n)}.`,
    `     Latest finalized is ${latest - 2n}, latest verified is ${latest - 5n}`,
    'Active timelines:',
    ...timeline('Primary', first ?? '', history),
    ...(second === undefined
      ? []
      : timeline('Secondary', second, history < SECONDARY_HISTORY ? history : SECONDARY_HISTORY)),
  ]
}

/** The encodings of the primary and the secondary timeline. */
const KINDS: Readonly<Record<Storage['timelines'], readonly ('slot' | 'page')[]>> = {
  legacy: ['slot'],
  dual: ['slot', 'page'],
  promoted: ['page', 'slot'],
  single: ['page'],
}
