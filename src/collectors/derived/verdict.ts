import type { SampleIndex } from '../../core/sample-index.ts'
import { newestBlock } from './views.ts'

/** `ok`, `failing` with the reasons, or `blind`: too little is known to say either. */
export interface Verdict {
  readonly verdict: 'ok' | 'failing' | 'blind'
  /** In short, worst first, without names of hosts, paths or figures. */
  readonly reasons: readonly string[]
}

/** A block is due three times a second: thirty seconds are a hundred that did not come. */
export const STALE_BLOCK_S = 30
const FAR_BEHIND = 60

/** Whether the node does its work, in one word: what a person who is woken wants to know first. */
export const judge = (known: SampleIndex, now: number): Verdict => {
  const reasons = [
    ...servicesDown(known).map((service) => `service ${service} is not active`),
    ...staleBlock(known, now),
    ...(known.value('chain_rpc_up') === 0 ? ['the RPC does not answer'] : []),
    ...((known.value('chain_block_difference') ?? 0) > FAR_BEHIND ? ['behind the network'] : []),
    ...(known.value('chain_consensus_statesync_active') === 1 ||
    known.value('chain_native_statesync_active') === 1
      ? ['statesync is under way']
      : []),
  ]
  if (reasons.length > 0) return { verdict: 'failing', reasons }
  const isBlind = newestBlock(known) === undefined
  return isBlind
    ? { verdict: 'blind', reasons: ['nothing is known of the newest block of the node'] }
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
