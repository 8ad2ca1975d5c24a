import type { SampleIndex } from '../../core/metric.ts'
import { newestBlock } from './blocks.ts'

/** `ok`, `failing` with the reasons, or `blind` if the newest block is unknown. */
export interface HealthVerdict {
  readonly verdict: 'ok' | 'failing' | 'blind'
  /** Short texts, worst first, without host names, paths or values. */
  readonly reasons: readonly string[]
}

/** The chain makes three blocks a second: after 30 s about a hundred are missing. */
export const STALE_BLOCK_S = 30
const FAR_BEHIND = 60

/** Evaluates the health of the node for the heartbeat; `now` in milliseconds since the epoch. */
export const healthVerdict = (known: SampleIndex, now: number): HealthVerdict => {
  const reasons = [
    ...servicesDown(known).map((service) => `service ${service} is not active`),
    ...staleBlock(known, now),
    ...(known.value('chain_rpc_up') === 0 ? ['the RPC does not respond'] : []),
    ...((known.value('chain_block_difference') ?? 0) > FAR_BEHIND ? ['behind the network'] : []),
    ...(known.value('chain_consensus_statesync_active') === 1 || known.value('chain_native_statesync_active') === 1
      ? ['statesync is running']
      : []),
  ]
  if (reasons.length > 0) return { verdict: 'failing', reasons }
  const isBlind = newestBlock(known) === undefined
  return isBlind
    ? { verdict: 'blind', reasons: ['the newest block of the node is unknown'] }
    : { verdict: 'ok', reasons: [] }
}

const servicesDown = (known: SampleIndex): readonly string[] =>
  known
    .series('chain_service_expected')
    .filter(({ value }) => value === 1)
    .map(({ labels }) => labels['service'] ?? '')
    .filter((service) => known.value('chain_service_active', { service }) === 0)

const staleBlock = (known: SampleIndex, now: number): readonly string[] => {
  const time = newestBlock(known)?.time
  return time !== undefined && now / 1000 - time > STALE_BLOCK_S ? ['no new block'] : []
}
