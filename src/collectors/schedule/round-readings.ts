import type { SampleIndex } from '../../core/metric.ts'
import { minute, second } from '../../core/units.ts'
import { isStarting, isSyncing } from '../../domain/agreement.ts'

/** A round may be known only when the node is back: the stream then has its last 100 blocks. */
const KEPT_MS = 5 * minute
/** The host is read every 15 s: a reading of now may be that of 15 s ago. */
const BEFORE_MS = 10 * second
export const AFTER_MS = 20 * second

const outageOf = (known: SampleIndex): string | null => {
  if (known.value('chain_service_active', { service: 'bft' }) === 0) return 'the service of consensus was not active'
  if (isSyncing(known)) return 'the node ran statesync'
  return isStarting(known) ? 'the node was starting' : null
}

const readingOf = (known: SampleIndex, at: number) => {
  const lost = known
    .series('chain_host_network_drops_total')
    .filter(({ labels }) => labels['kind'] === 'missed' || labels['kind'] === 'error')
  return {
    at,
    outage: outageOf(known),
    clockOffset: known.value('chain_host_clock_offset_seconds'),
    sessions: known.value('chain_native_sessions', { state: 'transport' }),
    udpErrors: known.value('chain_host_udp_errors_total', { kind: 'receive_buffer' }),
    udpReceived: known.value('chain_host_udp_received_total'),
    cardLost: lost.length === 0 ? undefined : lost.reduce((sum, { value }) => sum + value, 0),
    cardReceived: known.series('chain_host_network_received_total')[0]?.value,
    diskStalled: known.value('chain_host_pressure_stalled_seconds_total', { resource: 'io' }),
    executionLagging: known.value('chain_native_events_total', { event: 'execution_lagging' }),
  }
}

type Reading = ReturnType<typeof readingOf>
type Counter = Exclude<keyof Reading, 'at' | 'outage'>

/** What the readings around a round have; null is unknown. */
export type RoundReadings = ReturnType<ReturnType<typeof createRoundReadings>['around']>

/** The readings of the last minutes from which the class of a missed round follows. */
export const createRoundReadings = () => {
  let readings: readonly Reading[] = []

  return {
    add: (known: SampleIndex, at: number): void => {
      // After the clock was set back, remove the readings of the future.
      const kept = readings.filter((one) => one.at < at && at - one.at <= KEPT_MS)
      readings = [...kept, readingOf(known, at)]
    },
    around: (at: number) => {
      const from = readings.findLast((one) => one.at <= at - BEFORE_MS)
      const to = readings.find((one) => one.at >= at + AFTER_MS)
      const within = from && to ? readings.filter((one) => one.at >= from.at && one.at <= to.at) : []
      /** Undefined if the counter was reset. */
      const increase = (counter: Counter): number | undefined => {
        const [before, after] = [from?.[counter], to?.[counter]]
        return before === undefined || after === undefined || after < before ? undefined : after - before
      }
      const ratio = (lostBy: Counter, receivedBy: Counter): number | null => {
        const [lost, received] = [increase(lostBy), increase(receivedBy)]
        return lost === undefined || received === undefined || lost + received === 0 ? null : lost / (lost + received)
      }
      const [offset] = within
        .flatMap(({ clockOffset }) => clockOffset ?? [])
        .toSorted((a, b) => Math.abs(b) - Math.abs(a))
      const sessions = within.flatMap((one) => one.sessions ?? [])
      const stalled = increase('diskStalled')
      return {
        /**
         * Why the node could not take part before the round: its service was not active, or it was starting or in statesync. A
         * restart after the round is no outage in it.
         */
        outage: within.findLast((one) => one.at <= at)?.outage ?? null,
        /** Positive if the clock of this host is ahead. */
        clockOffsetMs: offset === undefined ? null : offset * second,
        /** The fewest sessions with peers. */
        sessions: sessions.length === 0 ? null : Math.min(...sessions),
        /** Ratios of packets that were lost. */
        udpDropRatio: ratio('udpErrors', 'udpReceived'),
        cardDropRatio: ratio('cardLost', 'cardReceived'),
        /** Ratio of time in which all programs waited for the disk. */
        diskStalledRatio: stalled === undefined || !from || !to ? null : (stalled * second) / (to.at - from.at),
        /** Blocks that consensus could not check or propose because execution was behind. */
        executionLagging: increase('executionLagging') ?? null,
      }
    },
  }
}
