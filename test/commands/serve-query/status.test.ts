import { expect, it } from 'vitest'
import { withShutdownTimeout } from '../../../query/commands/serve-query/serve-query.ts'
import {
  createBackfillEstimate,
  createErrorLog,
  createProgressLog,
  createRefusalLog,
  recentNodeHeight,
  samplesOf,
  waitingFor,
} from '../../../query/commands/serve-query/status.ts'
import { HttpError } from '../../../query/service/api/http-error.ts'
import { SourceError } from '../../../src/core/errors.ts'
import type { IngestState } from '../../../query/service/ingest/writer.ts'
import { NO_ERRORS } from '../../query/ingest/fixtures.ts'
import { logLines } from '../../support/log-lines.ts'
import { manualClock } from '../../support/manual-clock.ts'

const NOTHING: IngestState = {
  phase: 'starting',
  nodeHeight: null,
  nodeHeightAt: null,
  first: null,
  indexed: null,
  indexedTimestamp: null,
  blocks: 0,
  logs: 0,
  corrected: 0,
  errors: NO_ERRORS,
  trouble: null,
}

const narrated = () => {
  const clock = manualClock()
  const { log, lines } = logLines()
  const narrate = createProgressLog(log, clock)
  const tell = async (seconds: number, state: Partial<IngestState>): Promise<string[]> => {
    for (let each = 0; each < seconds; each += 1) {
      narrate({ ...NOTHING, ...state })
      await clock.advance(1000)
    }
    return lines.splice(0)
  }
  return tell
}

it('the start of following the node is logged', async () => {
  const tell = narrated()
  expect(await tell(2, { phase: 'tail' })).toEqual([])
  expect(await tell(2, { phase: 'tail', indexed: 7 })).toEqual(['info Following the node at block 7'])
})

it('a backfill logs its progress every ten seconds, with rates and the remaining time', async () => {
  const tell = narrated()
  const at = (blocks: number, logs: number) => ({
    phase: 'backfill' as const,
    indexed: 1000 + blocks,
    nodeHeight: 11_000,
    blocks,
    logs,
  })
  expect(await tell(10, at(0, 0))).toEqual([])
  // 2000 blocks in 10 s, and 8000 to go: 40 s.
  expect(await tell(10, at(2000, 50_000))).toEqual([
    'info Indexed up to block 3,000 of 11,000, 200 blocks/s, 5,000 logs/s, 40 s left',
  ])
  // Nothing was done in these: how long it takes is not known.
  expect(await tell(1, at(2000, 50_000))).toEqual(['info Indexed up to block 3,000 of 11,000, 0 blocks/s, 0 logs/s'])
  expect(await tell(30, { phase: 'tail', indexed: 11_000 })).toEqual(['info Following the node at block 11,000'])
  expect(await tell(3, { phase: 'waiting' })).toEqual([])
  expect(await tell(3, { phase: 'tail', indexed: 11_001 })).toEqual([])
})

it('the end of a backfill is estimated from the last minute, at the pace at which the distance decreases', async () => {
  const clock = manualClock()
  const estimate = createBackfillEstimate(clock)
  const after = async (ms: number, indexed: number, nodeHeight: number): Promise<number | null> => {
    await clock.advance(ms)
    estimate.record({ ...NOTHING, phase: 'backfill', indexed, nodeHeight })
    const endsAt = estimate.endsAt()
    return endsAt === null ? null : endsAt - clock.now()
  }
  expect(await after(0, 0, 1000)).toBe(null)
  expect(await after(9000, 400, 1000)).toBe(null)
  // 500 indexed and 100 new blocks in 20 s: 400 fewer, and 600 left.
  expect(await after(11_000, 500, 1100)).toBe(30_000)
  // No longer from the first record, but from the one with 600 left: 10 fewer in 51 s, and 590 left.
  expect(await after(40_000, 510, 1100)).toBe(3_009_000)
  // Nothing decreased in the last minute.
  expect(await after(61_000, 510, 1100)).toBe(null)
  expect(await after(61_000, 510, 1200)).toBe(null)
  estimate.record({ ...NOTHING, phase: 'tail', indexed: 1200, nodeHeight: 1200 })
  expect(estimate.endsAt()).toBe(null)
})

it('a problem is logged when it starts, when it changes, and when it is resolved', async () => {
  const tell = narrated()
  const trouble = 'could not ask the node: it refuses the connection'
  expect(await tell(30, { trouble })).toEqual([`warn ${trouble}`])
  expect(await tell(4, { trouble: null })).toEqual([])
  expect(await tell(1, { trouble })).toEqual([])
  expect(await tell(1, { trouble: 'another' })).toEqual(['warn another'])
  expect(await tell(30, { trouble: null })).toEqual(['info Resolved: another'])
})

it('an error that repeats with each request is logged once, and again after a pause', async () => {
  const clock = manualClock()
  const { log, lines } = logLines()
  const complain = createErrorLog(log, clock)
  const fail = async (happened: string, seconds: number): Promise<string[]> => {
    complain(new SourceError({ doing: 'read logs', happened }))
    await clock.advance(seconds * 1000)
    return lines.splice(0)
  }
  expect(await fail('it is away', 50)).toEqual(['error Could not read logs: it is away'])
  expect(await fail('it is away', 50)).toEqual([])
  expect(await fail('it is away', 61)).toEqual([])
  expect(await fail('it is away', 1)).toEqual(['error Could not read logs: it is away'])
  expect(await fail('it is full', 1)).toEqual(['error Could not read logs: it is full'])
})

it('a refusal is logged once for each client and reason in ten minutes', async () => {
  const clock = manualClock()
  const { log, lines } = logLines()
  const refused = createRefusalLog(log, clock)
  const traces = new HttpError('not_served', 'traces are not available', { path: 'traces[0]' })
  for (let attempt = 0; attempt < 13; attempt += 1) refused('10.0.0.7', traces)
  refused('10.0.0.8', traces)
  refused('10.0.0.7', new HttpError('unauthorized', 'invalid API key'))
  const first = 'info Refused a request from 10.0.0.7: traces are not available (traces[0])'
  expect(lines.splice(0)).toEqual([
    first,
    'info Refused a request from 10.0.0.8: traces are not available (traces[0])',
    'info Refused a request from 10.0.0.7: invalid API key',
  ])
  await clock.advance(10 * 60_000)
  refused('10.0.0.7', traces)
  expect(lines).toEqual([first])
})

it('a shutdown that hangs ends with an error', async () => {
  const clock = manualClock()
  const late = Promise.all([withShutdownTimeout(clock, new Promise(() => undefined)), clock.advance(20_000)])
  await expect(late).rejects.toThrow(/it took longer than 20 s/)
  await withShutdownTimeout(clock, Promise.resolve())
})

it.each([
  [{ phase: 'starting' }, ['the finalized block of the node']],
  [{ phase: 'backfill', nodeHeight: 100 }, ['the first block']],
  [{ phase: 'backfill', nodeHeight: 100, indexed: 69 }, ['31 more blocks of the node']],
  [{ phase: 'tail', nodeHeight: 100, indexed: 70 }, []],
  [{ phase: 'waiting', nodeHeight: 100, indexed: 101, trouble: 'could not read' }, []],
  [{ phase: 'waiting', nodeHeight: 100, indexed: 130, trouble: 'could not read' }, []],
  [
    { phase: 'waiting', nodeHeight: 100, indexed: 131, trouble: 'could not read' },
    ['the node: its finalized block 100 is below block 131 of the store'],
  ],
  [
    { phase: 'waiting', nodeHeight: 100, indexed: 69, trouble: 'could not read' },
    ['31 more blocks of the node (could not read)'],
  ],
  [{ phase: 'waiting', nodeHeight: 100, trouble: 'could not read' }, ['the first block (could not read)']],
  [{ phase: 'waiting', trouble: 'could not read' }, ['the finalized block of the node (could not read)']],
  // Also within readyLag.
  [{ phase: 'incomplete', nodeHeight: 100, indexed: 99, trouble: 'stopped' }, ['the logs of a block (stopped)']],
  [
    { phase: 'stopped', nodeHeight: 100, indexed: 100 },
    ['the operator: the ingest has stopped, and the log has the reason'],
  ],
] as const)('%j waits for %j', (standing, expected) => {
  expect(waitingFor({ ...NOTHING, nodeHeightAt: 0, ...standing }, 30, 0)).toEqual(expected)
})

it('a service without a store waits for it', () => {
  expect(waitingFor(null, 30, 0)).toEqual(['the store'])
})

it('the height of the node is unknown after a minute', () => {
  const state = { ...NOTHING, nodeHeight: 7, nodeHeightAt: 1_000_000 }
  expect(recentNodeHeight(state, 1_060_000)).toBe(7)
  expect(recentNodeHeight(state, 1_060_001)).toBeNull()
  expect(recentNodeHeight(NOTHING, 0)).toBeNull()
})

it('unknown values have no sample', () => {
  const names = (known: Parameters<typeof samplesOf>[0]) => [...new Set(samplesOf(known, 0).map(({ name }) => name))]
  const none = { state: null, size: null, limitBytes: null, streams: 2 }
  expect(names(none)).toEqual(['chain_query_service_phase', 'chain_query_service_height_streams'])
  expect(names({ ...none, state: NOTHING, limitBytes: 5 })).toEqual([
    'chain_query_service_phase',
    'chain_query_service_blocks_indexed_total',
    'chain_query_service_logs_indexed_total',
    'chain_query_service_blocks_corrected_total',
    'chain_query_service_ingest_errors_total',
    'chain_query_service_height_streams',
    'chain_query_service_store_limit_bytes',
  ])
})
