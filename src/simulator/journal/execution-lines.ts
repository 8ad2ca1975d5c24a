import type { Block } from '../chain/happening.ts'
import { digest, pick } from '../chain/random.ts'
import type { Execution } from '../scenario/execution.ts'
import type { Storage } from '../scenario/storage.ts'
import { SECONDARY_HISTORY } from '../tools/storage-history.ts'
import { storageUseAt } from '../tools/storage-use.ts'

/** A block that is executed, and how it stands with the node then. */
export interface Executing {
  readonly block: Block
  /** 0x and 64 hex digits. */
  readonly id: string
  readonly atMs: number
  readonly execution: Execution
  readonly storage: Storage
}

/** Where in the program a message stands: the line is another in each release. */
type Message = readonly [place: string, text: string]

/** What the program writes while it executes one block, in order. */
export function* executed(executing: Executing): Generator<Message> {
  const { block, id, execution, storage } = executing
  const isNew = execution.speaks === '0.16'
  yield upserted(executing, isNew ? 'primary' : undefined)
  if (isNew && storage.timelines === 'dual') {
    yield upserted(executing, 'secondary')
    const [primary, secondary] = ['primary', 'secondary'].map((slot) => `0x${digest(slot, id)}`)
    const text = `block=${block.seqNum}, block_id=${id} state_root primary=${primary} secondary=${secondary}`
    yield ['runloop.cpp:372', text]
  }
  const work = workOf(executing)
  yield [isNew ? 'runloop.cpp:391' : 'runloop.cpp:346', renderBlock(executing, work)]
  yield [isNew ? 'runloop.cpp:102' : 'runloop.cpp:99', renderRun(executing, work)]
}

export const finalized = ({ seqNum, id }: Block): Message => [
  'runloop.cpp:760',
  `Processing finalization for block ${seqNum} with block_id 0x${id}`,
]

/** What a block costs: microseconds by phase, gas, and the rates that the program makes of them. */
interface Work {
  readonly retried: number
  readonly recovery: number
  readonly execution: number
  readonly commit: number
  readonly total: number
  readonly gas: number
}

const GAS = 84_325
/** What is neither recovery nor execution nor commit. */
const REST = 56

const workOf = ({ block: { transactions, seqNum }, id, execution }: Executing): Work => {
  const { blockMs, retriedPercent } = execution
  const recovery = 20 + 4 * transactions
  const commit = 400 + pick(200, 'commit', id, seqNum)
  const usual = 100 + 20 * transactions
  // A tenth more or less.
  const slow = (blockMs ?? 0) * (900 + pick(200, 'slow', id, seqNum))
  const needed = Math.max(usual, slow - recovery - commit - REST)
  return {
    retried: Math.floor((transactions * retriedPercent) / 100),
    recovery,
    execution: needed,
    commit,
    total: recovery + needed + commit + REST,
    gas: transactions * GAS,
  }
}

const renderBlock = ({ block, id, execution, atMs }: Executing, work: Work): string => {
  const { transactions } = block
  const share = transactions === 0 ? 0 : (100 * work.retried) / transactions
  const fields = [
    `bl=${pad(8, block.seqNum)}`,
    `id=${id}`,
    `ts=${block.timeMs}`,
    `tx=${pad(5, transactions)}`,
    `rt=${pad(4, work.retried)}`,
    `rtp=${share.toFixed(2).padStart(5)}%`,
    `sr=${pad(5, work.recovery)}µs`,
    `txe=${pad(6, work.execution)}µs`,
    `cmt=${pad(6, work.commit)}µs`,
    `tot=${pad(6, work.total)}µs`,
    `tpse=${pad(5, (1e6 * transactions) / work.execution)}`,
    `tps=${pad(5, (1e6 * transactions) / work.total)}`,
    `gas=${pad(9, work.gas)}`,
    `gpse=${pad(4, work.gas / work.execution)}`,
    `gps=${pad(3, work.gas / work.total)}`,
    ...(execution.speaks === '0.16'
      ? []
      : [`ac=${pad(8, 1_000_000 + (Math.floor(atMs / 1000) % 90_000))}`, 'sc=10000000']),
  ]
  return `__exec_block,${fields.join(',')}`
}

const renderRun = ({ block, id }: Executing, { gas, total }: Work): string => {
  const rates = `tps = ${pad(5, (1e6 * block.transactions) / total)}, gps = ${pad(4, gas / total)} M`
  const rss = pad(6, 6000 + pick(64, 'rss', block.seqNum))
  return `Run to block= ${block.seqNum}, block_id ${id}, number of transactions ${pad(6, block.transactions)}, ${rates}, rss = ${rss} MB`
}

const upserted = (
  { block: { seqNum }, id, atMs, storage }: Executing,
  slot: 'primary' | 'secondary' | undefined,
): Message => {
  const { used, capacity, fast, slow, free, history } = storageUseAt(storage, atMs)
  const kept = slot === 'secondary' && history > SECONDARY_HISTORY ? SECONDARY_HISTORY : history
  const timeline = slot === undefined ? '' : ` (timeline ${slot === 'primary' ? 0 : 1})`
  const [hot, cold, unused] = [fast, slow, free].map((chunks) => chunks * storage.devices)
  const text =
    `Finish upserting version ${seqNum}${timeline}. Min valid version ${seqNum - kept + 1n}. ` +
    `Time elapsed: ${300 + pick(900, 'upsert', id, slot ?? '')} us. ` +
    `Disk usage: ${(used / capacity).toFixed(4)}. Chunks: ${hot} fast, ${cold} slow, ${unused} free. ` +
    `Writer offsets: fast={${fast},1048576}, slow={${slow},77312}. Compaction head offset fast=${fast}, slow=${slow}`
  return ['update_aux.cpp:598', text]
}

/** Padded with blanks, without a fraction. */
const pad = (width: number, number: number | bigint): string =>
  `${typeof number === 'bigint' ? number : Math.floor(number)}`.padStart(width)
