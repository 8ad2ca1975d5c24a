import { digest } from '../chain/random.ts'
import type { SimulatedNode } from '../node.ts'
import type { Frame, Tool } from './tools.ts'

/** The stand-in for the tool that reports on the node's database: it knows `--storage` alone. */
export const createStorageTool =
  (node: SimulatedNode): Tool =>
  (argv) => {
    const devices = readDevices(argv)
    if (typeof devices === 'string') return fail(devices)
    return [{ stdout: renderReport(node, devices) }, { exit: 0 }]
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

const MIB = 2 ** 20
const CHUNK = 256 * MIB
const CHUNKS = 7424
const FAST = 1387
const SLOW = 212
const RETAINED = 16_777_216n
const HISTORY = 642_000n

const renderReport = (
  { heights, now, chain, prefix }: SimulatedNode,
  devices: readonly string[],
): string => {
  const latest = heights.execution(now())
  const id = (number: bigint): string => chain.block(number)?.id ?? digest('no block', number)
  const earliest = latest - HISTORY + 1n
  const capacity = CHUNKS * CHUNK
  const used = (FAST + SLOW) * CHUNK - 71 * MIB
  const share = ((100 * used) / capacity).toFixed(2)
  const rows = devices.map(
    (device) =>
      `   ${bytes(capacity).padStart(15)}${bytes(used).padStart(15)}${share.padStart(6)}%  ${JSON.stringify(resolve(device))}`,
  )
  const list = (name: string, chunks: number, unused: number): string =>
    `     ${name}: ${chunks} chunks with capacity ${bytes(chunks * CHUNK)} used ${bytes(unused)}`
  return [
    'MPT database on storages:',
    '          Capacity           Used      %  Path',
    ...rows,
    'MPT database internal lists:',
    list('Fast', FAST, FAST * CHUNK - 48 * MIB),
    list('Slow', SLOW, SLOW * CHUNK - 23 * MIB),
    list('Free', CHUNKS - FAST - SLOW, 0),
    `MPT database has been configured to retain no more than ${RETAINED} versions.`,
    `     Latest proposed is (${latest}, ${id(latest)}).`,
    `     Latest voted is (${latest - 1n}, ${id(latest - 1n)}).`,
    `     Latest finalized is ${latest - 2n}, latest verified is ${latest - 5n}`,
    'Active timelines:',
    '     Primary:',
    `        State machine kind: ${prefix}`,
    `        History: ${HISTORY} versions, earliest is ${earliest}, latest is ${latest}`,
    `        Auto expire version: ${earliest}`,
    '',
  ].join('\n')
}

/** The report names the device that a link leads to. */
const resolve = (device: string): string => (device === '/dev/triedb' ? '/dev/nvme3n1p2' : device)

/** Binary multiples under decimal names; the next unit begins at nine tenths of it. */
const bytes = (count: number): string => {
  const units = ['bytes', 'Kb', 'Mb', 'Gb', 'Tb']
  const power = Math.max(
    0,
    units.findLastIndex((_, index) => count >= 0.9 * 1024 ** index),
  )
  return `${(count / 1024 ** power).toFixed(2)} ${units[power]}`
}
