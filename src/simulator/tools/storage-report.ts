import { drift } from '../drift.ts'
import type { SimulatedNode } from '../node.ts'
import { historyOf, neverSet, renderHistory } from './storage-history.ts'
import { bytes, CHUNK, percentUsed, type StorageUse, storageUse, UNUSED } from './storage-use.ts'
import type { Frame, Tool } from './tools.ts'

/** The stand-in for the tool that reports on the node's database: it knows `--storage` alone. */
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

/** Whether it is time for the mark of what was never set; `once` is used up by one report. */
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

/** The report names the device that a link leads to. */
const resolve = (device: string): string => (device === '/dev/triedb' ? '/dev/nvme3n1p2' : device)

/** Those that were asked for, and what else the database lies on. */
const allDevices = (asked: readonly string[], count: number): readonly string[] => [
  ...asked.map(resolve),
  ...Array.from(
    { length: Math.max(0, count - asked.length) },
    (_, index) => `/dev/nvme${4 + index}n1p2`,
  ),
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
    ...devices.map(
      (device) => `   ${sizes}${percentUsed(use).padStart(6)}%  ${JSON.stringify(device)}`,
    ),
    'MPT database internal lists:',
    list('Fast', use.fast, UNUSED.fast),
    list('Slow', use.slow, UNUSED.slow),
    list('Free', use.free, use.free * CHUNK),
  ]
}
