import { figure } from '../../core/format.ts'
import { minute, second } from '../../core/units.ts'
import { type JournalRule, matchIf, type RuleInput, percent, type Severity } from './rule.ts'

const OWN_IN_A_ROW = 3
const OWN_SHARE = 0.05
const OWN_ROUNDS = 20
/** Above this share of timed-out rounds in the network, the share of a single node is not significant. */
const NETWORK_SHARE = 0.03
const NETWORK_WITHIN = 30 * minute
const VOTES_WITHIN = 2 * minute

/** Votes per round that was closed by votes, of a node that has voted before; null if the log has too little for it. */
const votesPerRound = ({ counters }: RuleInput): number | null => {
  const of = (kind: string, within: number): number =>
    counters.increase('chain_consensus_messages_total', within, { kind })
  const rounds = of('round_advanced', VOTES_WITHIN)
  if (rounds < VOTES_WITHIN / second || of('vote_sent', Infinity) === 0) return null
  return of('vote_sent', VOTES_WITHIN) / rounds
}

const notVoting = (severity: Severity, limit: number, holds: number): JournalRule => ({
  alert: 'ChainNotVoting',
  severity,
  for: holds,
  figures: [`< ${limit}`],
  find: (input) => {
    const ratio = votesPerRound(input)
    return matchIf(
      ratio !== null && ratio < limit,
      -(ratio ?? 0),
      () => `the node voted in ${percent(ratio ?? 0)} of the rounds`,
    )
  },
})

const networkTimeouts = ({ counters }: RuleInput): number => {
  const scope = { scope: 'network' }
  const blocks = counters.increase('chain_ledger_blocks_total', NETWORK_WITHIN, {
    ...scope,
    event: 'proposed',
  })
  const timeouts = counters.increase('chain_ledger_timeouts_total', NETWORK_WITHIN, scope)
  return blocks === 0 ? 0 : timeouts / blocks
}

/** Rules about the duties of a validator: leading rounds and voting. */
export const dutyRules: readonly JournalRule[] = [
  {
    alert: 'ChainLeaderTimeoutsInARow',
    severity: 'critical',
    for: 30 * second,
    figures: [`>= ${OWN_IN_A_ROW}`, `> ${NETWORK_SHARE}`],
    find: (input) => {
      const own = input.known.value('chain_ledger_own_consecutive_timeouts') ?? 0
      return matchIf(
        own >= OWN_IN_A_ROW && networkTimeouts(input) <= NETWORK_SHARE,
        own,
        () => `${own} consecutive rounds that the node led timed out`,
      )
    },
  },
  {
    alert: 'ChainLeaderTimeouts',
    severity: 'warning',
    for: 5 * minute,
    figures: [`> ${OWN_SHARE}`, `>= ${OWN_ROUNDS}`, `> ${NETWORK_SHARE}`],
    find: ({ known }) => {
      const share = known.value('chain_duty_timeout_ratio', { scope: 'own' }) ?? 0
      const network = known.value('chain_duty_timeout_ratio', { scope: 'network' }) ?? 0
      const rounds = known.series('chain_duty_slots').reduce((sum, { value }) => sum + value, 0)
      return matchIf(
        share > OWN_SHARE && rounds >= OWN_ROUNDS && network <= NETWORK_SHARE,
        share,
        () =>
          `${percent(share)} of the ${figure(rounds)} rounds that the node led timed out; ${percent(network)} of all rounds`,
      )
    },
  },
  notVoting('critical', 0.5, 2 * minute),
  notVoting('warning', 0.9, 15 * minute),
]
