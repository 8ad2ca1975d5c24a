import {
  bareDirective,
  type Directive,
  directive,
  type Effect,
  linesPerBlock,
  linesPerSecond,
  oneOf,
} from '../scenario/directives.ts'
import type { Condition, Timeline } from '../scenario/timeline.ts'
import type { LogLine } from './consensus-lines.ts'

const LOG_LEVELS = ['DEBUG', 'INFO'] as const

/** How much the consensus log contains in addition to the lines about blocks and rounds. */
export interface ConsensusLogVolume {
  /** The lowest level that is written. */
  readonly level: (typeof LOG_LEVELS)[number]
  /** Lines of DEBUG without meaning, with every block. */
  readonly noise: number
  readonly flood: Flood | undefined
}

interface Flood {
  readonly fromMs: number
  readonly linesPerSecond: number
}

export const usualLogVolume: ConsensusLogVolume = { level: 'DEBUG', noise: 3, flood: undefined }

const changeLog =
  (change: (atMs: number) => Partial<ConsensusLogVolume>): Effect =>
  (condition, atMs) => ({ ...condition, log: { ...condition.log, ...change(atMs) } })

export const logVolumeDirectives: readonly Directive[] = [
  directive(
    { subject: 'log', verb: 'speaks', meaning: 'the lowest level that consensus logs' },
    oneOf(LOG_LEVELS),
    (level) => changeLog(() => ({ level })),
  ),
  directive(
    {
      subject: 'log',
      verb: 'noise',
      meaning: 'consensus logs that number of DEBUG lines without meaning with every block',
    },
    linesPerBlock,
    (noise) => changeLog(() => ({ noise })),
  ),
  directive(
    {
      subject: 'log',
      verb: 'floods',
      meaning: 'consensus logs that number of such lines per second; above its rate limit journald drops the rest',
    },
    linesPerSecond,
    (rate) => changeLog((atMs) => ({ flood: { fromMs: atMs, linesPerSecond: rate } })),
  ),
  bareDirective(
    { subject: 'log', verb: 'calms', meaning: 'the flood is over' },
    changeLog(() => ({ flood: undefined })),
  ),
]

/** Lines at a constant rate, from `fromMs` on. */
export interface Steady {
  readonly fromMs: number
  readonly perSecond: number
}

interface TimeRange {
  /** Exclusive; `toMs` is inclusive. */
  readonly fromMs: number
  readonly toMs: number
}

/** The times, evenly distributed, of what a scenario repeats at a constant rate, each with its number. */
export function* steadyTimes(
  { segments }: Timeline,
  steadyIn: (condition: Condition) => Steady | undefined,
  { fromMs, toMs }: TimeRange,
): Generator<{ readonly atMs: number; readonly number: number }> {
  for (const [index, segment] of segments.entries()) {
    const steady = steadyIn(segment.condition)
    const endMs = segments[index + 1]?.fromMs ?? Infinity
    if (!steady || endMs <= fromMs || segment.fromMs > toMs) continue
    const msPerLine = 1000 / steady.perSecond
    const first = Math.max(segment.fromMs, fromMs + 1) - steady.fromMs
    for (let number = Math.max(0, Math.ceil(first / msPerLine)); ; number += 1) {
      const atMs = steady.fromMs + Math.floor(number * msPerLine)
      if (atMs > toMs || atMs >= endMs) break
      if (atMs > fromMs) yield { atMs, number }
    }
  }
}

/** DEBUG lines of a healthy node. Some mention statesync and blocksync: the node serves other nodes. */
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

/** The lines of the floods of a scenario, evenly distributed. */
export const createLogFlood = (timeline: Timeline) =>
  function* (fromMs: number, toMs: number): Generator<LogLine> {
    const times = steadyTimes(
      timeline,
      ({ log: { flood } }) => flood && { fromMs: flood.fromMs, perSecond: flood.linesPerSecond },
      { fromMs, toMs },
    )
    for (const { atMs, number } of times) {
      if (timeline.conditionAt(atMs).services.bft.state === 'active') {
        yield noiseLine(number, atMs)
      }
    }
  }
