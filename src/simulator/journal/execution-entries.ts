import { type Chain, FINAL_AFTER } from '../chain/chain.ts'
import type { Block } from '../chain/happening.ts'
import { digest } from '../chain/random.ts'
import { drift } from '../drift.ts'
import type { Heights } from '../heights.ts'
import { pidOf } from '../scenario/service.ts'
import { isSyncing } from '../scenario/statesync.ts'
import type { Timeline } from '../scenario/timeline.ts'
import { executed, finalized } from './execution-lines.ts'
import type { Draft } from './journal.ts'
import { serviceEntry } from './service-entry.ts'

interface Subject {
  readonly node: string
  readonly prefix: string
  readonly chain: Chain
  readonly timeline: Timeline
  readonly heights: Heights
}

/** A node that has to catch up executes so many blocks at most; the state of those before it is fetched. */
const CATCH_UP = 300n

/**
 * What execution writes into the journal of each block that consensus hands it. It is called with the
 * stretches of time one after the other, and remembers to which block it came.
 */
export const createExecutionEntries = (subject: Subject) => {
  const { chain, timeline, heights } = subject
  let done: bigint | undefined
  let generation: number | undefined

  /** Of a new process: what was not final is executed again. */
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
    const messages = (execution.twice ? [other, `0x${block.id}`] : [`0x${block.id}`]).flatMap(
      (id) => [...executed({ block, id, atMs, execution, storage })],
    )
    if (final) messages.push(finalized(final))
    for (const [place, message] of messages) {
      const text = `${timestamp(atMs)} [${pidOf(service)}] ${place} LOG_INFO\t${message}`
      yield serviceEntry(subject, service, {
        atMs,
        text: formatsDrift ? drift.executionLog(text) : text,
        program: subject.prefix,
      })
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

/** As the program prints it: nanoseconds, without a zone. */
const timestamp = (atMs: number): string =>
  `${new Date(atMs).toISOString().replace('T', ' ').replace('Z', '')}000000`
