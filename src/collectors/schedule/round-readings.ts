import type { SampleIndex } from '../../core/metric.ts'
import { minute, second } from '../../core/units.ts'
import type { RoundReadings } from '../../domain/missed-round.ts'

interface Reading {
  readonly at: number
  readonly outage: string | null
  readonly clockOffset: number | undefined
  readonly sessions: number | undefined
  readonly udpErrors: number | undefined
  readonly udpReceived: number | undefined
  readonly cardLost: number | undefined
  readonly cardReceived: number | undefined
  readonly diskStalled: number | undefined
  readonly executionLagging: number | undefined
}

/** A round may be known only when the node is back: the stream then has its last 100 blocks. */
const KEPT_MS = 5 * minute
/** The host is read every 15 s: a reading of now may be that of 15 s ago. */
const BEFORE_MS = 10 * second
export const AFTER_MS = 20 * second

const outageOf = (known: SampleIndex): string | null => {
  if (known.value('chain_service_active', { service: 'bft' }) === 0) return 'the service of consensus was not active'
  if (known.value('chain_consensus_statesync_active') === 1 || known.value('chain_native_statesync_active') === 1)
    return 'the node ran statesync'
  const isStarting = known.value('chain_consensus_start_active') === 1 || known.value('chain_native_start_active') === 1
  return isStarting ? 'the node was starting' : null
}

const readingOf = (known: SampleIndex, at: number): Reading => {
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

/** The readings of the last minutes from which the class of a missed round follows. */
export const createRoundReadings = () => {
  let readings: readonly Reading[] = []

  return {
    add: (known: SampleIndex, at: number): void => {
      // After the clock was set back, remove the readings of the future.
      const kept = readings.filter((one) => one.at < at && at - one.at <= KEPT_MS)
      readings = [...kept, readingOf(known, at)]
    },
    around: (at: number): RoundReadings => {
      const from = readings.findLast((one) => one.at <= at - BEFORE_MS)
      const to = readings.find((one) => one.at >= at + AFTER_MS)
      const within = from && to ? readings.filter((one) => one.at >= from.at && one.at <= to.at) : []
      /** Undefined if the counter was reset. */
      const increase = (valueOf: (reading: Reading) => number | undefined): number | undefined => {
        const [before, after] = [from && valueOf(from), to && valueOf(to)]
        return before === undefined || after === undefined || after < before ? undefined : after - before
      }
      const ratio = (lost: number | undefined, received: number | undefined): number | null =>
        lost === undefined || received === undefined || lost + received === 0 ? null : lost / (lost + received)
      const known = (valueOf: (reading: Reading) => number | undefined): readonly number[] =>
        within.flatMap((one) => valueOf(one) ?? [])
      const [offset] = known((one) => one.clockOffset).toSorted((a, b) => Math.abs(b) - Math.abs(a))
      const sessions = known((one) => one.sessions)
      const stalled = increase((one) => one.diskStalled)
      return {
        // A restart after the round is no outage in it.
        outage: within.findLast((one) => one.at <= at)?.outage ?? null,
        clockOffsetMs: offset === undefined ? null : offset * second,
        sessions: sessions.length === 0 ? null : Math.min(...sessions),
        udpDropRatio: ratio(
          increase((one) => one.udpErrors),
          increase((one) => one.udpReceived),
        ),
        cardDropRatio: ratio(
          increase((one) => one.cardLost),
          increase((one) => one.cardReceived),
        ),
        diskStalledRatio: stalled === undefined || !from || !to ? null : (stalled * second) / (to.at - from.at),
        executionLagging: increase((one) => one.executionLagging) ?? null,
      }
    },
  }
}
