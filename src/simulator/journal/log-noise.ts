import type { Timeline } from '../scenario/timeline.ts'
import type { LogLine } from './log-line.ts'
import { steadyMoments } from './steady-moments.ts'

/** What a healthy node writes all day: some of it sounds like trouble, and is work for others. */
const NOISE = [
  { target: 'consensus_state', message: 'vote message' },
  { target: 'peer_discovery', message: 'handling ping request' },
  { target: 'blocksync::blocksync', message: 'blocksync: peer headers request' },
  { target: 'statesync_executor::ipc', message: 'received statesync request' },
  { target: 'raptorcast', message: 'received raptorcast chunk' },
  { target: 'statesync_executor::ipc', message: 'sending response' },
  { target: 'dataplane', message: 'handled datagram' },
] as const

export const noiseLine = (number: number, atMs: number): LogLine => {
  const { target, message } = NOISE[number % NOISE.length] ?? NOISE[0]
  return {
    atMs,
    level: 'DEBUG',
    target,
    message,
    fields: { from: `198.51.100.${10 + (number % 20)}` },
  }
}

/** The lines of the floods of a scenario, evenly spread over time. */
export const createLogFlood = (timeline: Timeline) =>
  function* (fromMs: number, toMs: number): Generator<LogLine> {
    const moments = steadyMoments(
      timeline,
      ({ log: { flood } }) => flood && { fromMs: flood.fromMs, perSecond: flood.linesPerSecond },
      { fromMs, toMs },
    )
    for (const { atMs, number } of moments) {
      if (timeline.conditionAt(atMs).services.bft.state === 'active') {
        yield noiseLine(number, atMs)
      }
    }
  }
