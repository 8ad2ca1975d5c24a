import { figure } from '../../core/format.ts'
import { minute, second } from '../../core/units.ts'
import { type AlertRow, foundIf, type Moment, percent, type Severity } from './row.ts'

const OWN_IN_A_ROW = 3
const OWN_SHARE = 0.05
const OWN_ROUNDS = 20
/** The network's own share of rounds that time out, above which nobody's own says anything. */
const NETWORK_SHARE = 0.03
const NETWORK_WITHIN = 30 * minute
const VOTES_WITHIN = 2 * minute

/** Votes of a node that has voted before, for each round that votes have closed; null where the log does not tell. */
const votesPerRound = ({ tallies }: Moment): number | null => {
  const of = (kind: string, within: number): number =>
    tallies.increase('chain_consensus_messages_total', within, { kind })
  const rounds = of('round_advanced', VOTES_WITHIN)
  if (rounds < VOTES_WITHIN / second || of('vote_sent', Infinity) === 0) return null
  return of('vote_sent', VOTES_WITHIN) / rounds
}

const notVoting = (severity: Severity, limit: number, holds: number): AlertRow => ({
  alert: 'ChainNotVoting',
  severity,
  for: holds,
  figures: [`< ${limit}`],
  find: (moment) => {
    const ratio = votesPerRound(moment)
    return foundIf(
      ratio !== null && ratio < limit,
      -(ratio ?? 0),
      () => `it voted in ${percent(ratio ?? 0)} of the rounds`,
    )
  },
})

const networkTimeouts = ({ tallies }: Moment): number => {
  const scope = { scope: 'network' }
  const blocks = tallies.increase('chain_ledger_blocks_total', NETWORK_WITHIN, {
    ...scope,
    event: 'proposed',
  })
  const timeouts = tallies.increase('chain_ledger_timeouts_total', NETWORK_WITHIN, scope)
  return blocks === 0 ? 0 : timeouts / blocks
}

/** Its own turns: as the leader of a round, and as one of those that vote. */
export const dutyRows: readonly AlertRow[] = [
  {
    alert: 'ChainLeaderTimeoutsInARow',
    severity: 'critical',
    for: 30 * second,
    figures: [`>= ${OWN_IN_A_ROW}`, `> ${NETWORK_SHARE}`],
    find: (moment) => {
      const own = moment.known.value('chain_ledger_own_consecutive_timeouts') ?? 0
      return foundIf(
        own >= OWN_IN_A_ROW && networkTimeouts(moment) <= NETWORK_SHARE,
        own,
        () => `${own} of its own rounds in a row timed out`,
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
      return foundIf(
        share > OWN_SHARE && rounds >= OWN_ROUNDS && network <= NETWORK_SHARE,
        share,
        () =>
          `${percent(share)} of its ${figure(rounds)} own rounds timed out; ${percent(network)} of all`,
      )
    },
  },
  notVoting('critical', 0.5, 2 * minute),
  notVoting('warning', 0.9, 15 * minute),
]
