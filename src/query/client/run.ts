import { type Clock } from '../../core/clock.ts'
import { type Ask } from './ask.ts'
import { fetchBulk } from './bulk.ts'
import { type Chain, createChain } from './chain.ts'
import { type Counters, newCounters } from './counters.ts'
import { createDeliver, type Deliver, ReorgError } from './deliver.ts'
import { createFetch, type Fetch } from './fetch.ts'
import { fetchTip } from './tip.ts'
import { type Tell } from './tell.ts'
import {
  type LogQuery,
  type PageSink,
  type RunOptions,
  type RunResult,
  UNSETTLED_BLOCKS,
} from './types.ts'
import { createWire } from './wire.ts'

const CONCURRENCY = 4
/** A service that makes no progress is asked ten times in ten seconds at most, whatever was under way. */
const MOST_CONCURRENCY = 8
const MOST_RESTARTS = 3

interface RunParts {
  readonly ask: Ask
  readonly clock: Clock
  readonly tell: Tell
  /** The highest that was told of late. */
  readonly height: (signal: AbortSignal, counters: Counters) => Promise<number>
  /** What it says now. */
  readonly told: (signal: AbortSignal, counters: Counters) => Promise<number>
}

interface Run {
  readonly query: LogQuery
  readonly sink: PageSink
  readonly options: RunOptions
}

/** How far a run has come. */
interface Course {
  from: number
  through: number
  target: number
  /** The highest block that any page said the service has: `/height` may lag behind it. */
  seen: number
  /** The last block that no reorg reaches. */
  settled: number
}

interface Tools {
  readonly course: Course
  readonly counters: Counters
  readonly chain: Chain
  readonly fetch: Fetch
  readonly deliver: Deliver
}

/** Fetches a query to its end. Throws a QueryError where it does not come so far, unless the signal ended it. */
export const runQuery = async (parts: RunParts, run: Run): Promise<RunResult> => {
  const { signal } = run.options
  const tools = prepare(parts, run)
  const { course, counters } = tools
  const result = (complete: boolean): RunResult => ({
    complete,
    from: course.from,
    through: course.through,
    target: course.target,
    asked: run.query.toBlock,
    stats: { ...counters },
  })
  try {
    await complete(parts, run, tools)
    return result(true)
  } catch (error) {
    if (signal.aborted) return result(false)
    throw error
  }
}

const prepare = ({ ask, clock, tell, told }: RunParts, { query, sink, options }: Run): Tools => {
  const from = options.from ?? query.fromBlock
  const course = {
    from,
    through: from - 1,
    target: query.toBlock ?? from - 1,
    seen: -1,
    settled: -1,
  }
  const counters = newCounters()
  const chain = createChain()
  if (options.after) chain.learn([options.after])
  const fetch = createFetch({
    ask,
    clock,
    tell,
    counters,
    wire: createWire(query),
    target: () => course.target,
    height: async (signal) => told(signal, counters),
  })
  const deliver = createDeliver({
    sink,
    chain,
    fetch,
    counters,
    needsGuard: (page) =>
      (Boolean(options.after) && page.from === options.from) ||
      (page.from > query.fromBlock && page.from - 1 > course.settled),
    delivered: (page) => {
      course.through = page.next - 1
      course.seen = Math.max(course.seen, page.archiveHeight ?? -1)
      const { logs, retries, waitedMs } = counters
      const { through, target } = course
      options.onProgress?.({
        from: course.from,
        through,
        target,
        logs,
        retries,
        waitedMs,
      })
    },
  })
  return { course, counters, chain, fetch, deliver }
}

const complete = async (parts: RunParts, run: Run, tools: Tools): Promise<void> => {
  const { query, options } = run
  const { course, counters } = tools
  const height = await parts.height(options.signal, counters)
  const last = query.toBlock ?? height
  course.target = Math.min(last, height)
  if (options.from === undefined && query.fromBlock > height) {
    const evidence = `it has the blocks up to ${height}, and the query begins at ${query.fromBlock}`
    throw parts.tell('no-data', 'it does not have the first block yet', evidence)
  }
  await reachWithRestarts(parts, run, { tools, height })
  if (course.seen <= course.target || course.target >= last) return
  course.target = Math.min(last, course.seen)
  await reachWithRestarts(parts, run, { tools, height: Math.max(height, course.seen) })
}

interface Reach {
  readonly tools: Tools
  readonly height: number
}

const reachWithRestarts = async (parts: RunParts, run: Run, reaching: Reach): Promise<void> => {
  const { course, counters, chain } = reaching.tools
  for (let restarts = 0; ; restarts += 1) {
    try {
      await reach(parts, run, reaching)
      return
    } catch (error) {
      if (!(error instanceof ReorgError)) throw error
    }
    counters.reorgs += 1
    if (restarts === MOST_RESTARTS) {
      throw parts.tell('no-progress', 'what it has of old blocks is replaced again and again')
    }
    await run.sink.reset()
    chain.forget()
    counters.pages = 0
    counters.logs = 0
    counters.unguarded = 0
    course.from = run.query.fromBlock
    course.through = course.from - 1
  }
}

const reach = async (
  { tell, clock }: RunParts,
  { options }: Run,
  { tools, height }: Reach,
): Promise<void> => {
  const { signal } = options
  const { course, counters, fetch, deliver } = tools
  const from = course.through + 1
  course.settled = height - UNSETTLED_BLOCKS
  const settled = Math.min(course.target, course.settled)
  const wanted = Math.trunc(options.concurrency ?? CONCURRENCY)
  const concurrency = Math.min(MOST_CONCURRENCY, Math.max(1, wanted || 1))
  if (from <= settled) {
    await fetchBulk({ from, end: settled, concurrency, fetch, deliver, signal })
  }
  const at = course.through + 1
  await fetchTip({ from: at, end: course.target, fetch, deliver, counters, clock, tell, signal })
}
