import { type Block, digest, FINAL_AFTER, pick } from './chain.ts'
import { isSyncing } from './consensus/statesync.ts'
import { drift } from './format-drift.ts'
import type { NodeSubject } from './subject.ts'
import type { Draft } from './journal/entry.ts'
import { serviceEntry } from './journal/journal.ts'
import { directiveTable, duration, percent, setIn, settingOf } from './scenario/directives.ts'
import { pidOf } from './services/service.ts'
import type { Condition } from './scenario/timeline.ts'
import { SECONDARY_HISTORY, storageUseAt } from './storage.ts'
import { widen } from '../src/core/widen.ts'

/** How a node executes blocks. */
export const usualExecution = {
  /** Approximate time per block; undefined for the time its transactions need. */
  blockMs: widen<number | undefined>(undefined),
  /** Share of transactions that are retried, in percent. */
  retriedPercent: 5,
  /** Whether another block of the same height is executed first. */
  twice: false,
}

const changeExecution = setIn('execution')

/** Directives for the execution of blocks; those for the service are in services/service.ts. */
export const executionDirectives = directiveTable({
  'execution slows': ['the approximate time per block', settingOf('execution', 'blockMs', duration)],
  'execution retries': [
    'the share of transactions of a block that are retried',
    settingOf('execution', 'retriedPercent', percent),
  ],
  'execution reexecutes': ['each height is executed twice, with two blocks', changeExecution({ twice: true })],
  'execution recovers': ['blocks are executed as usual again', changeExecution(usualExecution)],
})

/** The most blocks that a node executes to catch up; it fetches the state of those before. */
const CATCH_UP = 300n

/**
 * The journal entries of execution for each block. The function that it returns must be called with consecutive time
 * ranges; it keeps the number of the last block.
 */
export const createExecutionEntries = (subject: NodeSubject) => {
  const { chain, timeline, heights } = subject
  let done: bigint | undefined
  let generation: number | undefined

  /** A new process executes blocks again that were not final. */
  const begin = (upto: bigint, of: number): bigint => {
    const before = done ?? upto - 1n
    const isNew = generation !== undefined && generation !== of
    generation = of
    return isNew ? before - FINAL_AFTER : before
  }

  function* execute(block: Block, atMs: number): Generator<Draft> {
    const condition = timeline.conditionAt(atMs)
    const { execution, storage, formatsDrift } = condition
    const service = condition.services.execution
    const final = chain.block(block.seqNum - FINAL_AFTER)
    const other = `0x${digest(block.id, 'another')}`
    const messages = (execution.twice ? [other, `0x${block.id}`] : [`0x${block.id}`]).flatMap((id) => [
      ...executed({ block, id, atMs, execution, storage }),
    ])
    if (final) messages.push(finalized(final))
    for (const [place, usual] of messages) {
      const message = formatsDrift ? drift.executionMessage(usual) : usual
      const text = executionLine({ atMs, pid: pidOf(service), level: 'INFO', place, message })
      yield serviceEntry(subject, service, { atMs, text, program: subject.prefix })
    }
  }

  return function* (fromMs: number, toMs: number): Generator<Draft> {
    for (const { seenMs: atMs } of chain.between(fromMs, toMs)) {
      const condition = timeline.conditionAt(atMs)
      const service = condition.services.execution
      if (service.state !== 'active' || isSyncing(condition, atMs)) continue
      const upto = heights.execution(atMs)
      const from = begin(upto, service.generation)
      const oldest = upto - CATCH_UP
      for (let number = from < oldest ? oldest + 1n : from + 1n; number <= upto; number += 1n) {
        const block = chain.block(number)
        if (block) yield* execute(block, atMs)
      }
      done = upto
    }
  }
}

interface LineParts {
  readonly atMs: number
  readonly pid: number
  readonly level: string
  /** Source file and line, which differs in each release. */
  readonly place: string
  readonly message: string
}

/** A line in the format of the program's logger: nanoseconds, without a time zone. */
export const executionLine = ({ atMs, pid, level, place, message }: LineParts): string =>
  `${new Date(atMs).toISOString().replace('T', ' ').replace('Z', '')}000000 [${pid}] ${place} LOG_${level}\t${message}`

/** A block that is executed, and the state of the node at that time. */
interface ExecutionContext extends Pick<Condition, 'execution' | 'storage'> {
  readonly block: Block
  /** 0x and 64 hex digits. */
  readonly id: string
  readonly atMs: number
}

/** Source location and text. */
type Message = readonly [place: string, text: string]

/** The log messages for one block, in order. */
function* executed(context: ExecutionContext): Generator<Message> {
  yield upserted(context, 'primary')
  if (['dual', 'promoted'].includes(context.storage.timelines)) yield upserted(context, 'secondary')
  const work = workOf(context)
  yield ['runloop.cpp:391', renderBlock(context, work)]
  yield ['runloop.cpp:102', renderRun(context, work)]
}

const finalized = ({ seqNum, id }: Block): Message => [
  'runloop.cpp:760',
  `Processing finalization for block ${seqNum} with block_id 0x${id}`,
]

type Work = ReturnType<typeof workOf>

const GAS = 84_325
/** Microseconds that are neither recovery nor execution nor commit. */
const REST = 56

/** Cost of a block: microseconds by phase, and gas. */
const workOf = ({ block: { transactions, seqNum }, id, execution }: ExecutionContext) => {
  const { blockMs, retriedPercent } = execution
  const recovery = 20 + 4 * transactions
  const commit = 400 + pick(200, 'commit', id, seqNum)
  const usual = 100 + 20 * transactions
  // 10 % more or less.
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

const renderBlock = ({ block, id, atMs }: ExecutionContext, work: Work): string => {
  const { transactions } = block
  const share = transactions === 0 ? 0 : (100 * work.retried) / transactions
  const fields = [
    `bl=${pad(8, block.seqNum)}`,
    `id=${id}`,
    // The host's clock when execution started, not the block's time.
    `ts=${Math.floor(atMs - work.total / 1000)}`,
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
  ]
  return `__exec_block,${fields.join(',')}`
}

const renderRun = ({ block, id }: ExecutionContext, { gas, total }: Work): string => {
  const rates = `tps = ${pad(5, (1e6 * block.transactions) / total)}, gps = ${pad(4, gas / total)} M`
  const rss = pad(6, 6000 + pick(64, 'rss', block.seqNum))
  return `Run to block= ${block.seqNum}, block_id ${id}, number of transactions ${pad(6, block.transactions)}, ${rates}, rss = ${rss} MB`
}

const upserted = (
  { block: { seqNum }, id, atMs, storage }: ExecutionContext,
  slot: 'primary' | 'secondary',
): Message => {
  const { used, capacity, fast, slow, free, history } = storageUseAt(storage, atMs)
  const kept = slot === 'secondary' && history > SECONDARY_HISTORY ? SECONDARY_HISTORY : history
  const text =
    `Finish upserting version ${seqNum} (timeline ${slot === 'primary' ? 0 : 1}). Min valid version ${seqNum - kept + 1n}. ` +
    `Time elapsed: ${300 + pick(900, 'upsert', id, slot)} us. ` +
    `Disk usage: ${(used / capacity).toFixed(4)}. Chunks: ${fast} fast, ${slow} slow, ${free} free. ` +
    `Writer offsets: fast={${fast},1048576}, slow={${slow},77312}. Compaction head offset fast=${fast}, slow=${slow}`
  return ['update_aux.cpp:598', text]
}

/** Padded with blanks, rounded down. */
const pad = (width: number, number: number | bigint): string =>
  `${typeof number === 'bigint' ? number : Math.floor(number)}`.padStart(width)
