import { figure, percent } from '../../core/format.ts'
import { FINDINGS } from '../../collectors/consensus/findings.ts'
import { isSyncing } from '../../core/agreement.ts'
import { isNodeDown } from '../facts.ts'
import { type Check, finding } from '../finding.ts'
import { above, below, ENOUGH_OWN_ROUNDS, LIMITS, MANY_PEERS, NETWORK_TIMEOUT_SHARE } from '../limits.ts'

/** Findings that another check reports with more detail, or that are no problem. */
const REPORTED_ELSEWHERE = new Set(['not_committing', 'statesync_active', 'blocksync_active', 'info_only_log'])

/** Findings of the consensus log analysis. */
export const consensusLog: Check = ({ known }) =>
  isNodeDown(known, 'bft') || isSyncing(known)
    ? []
    : FINDINGS.filter(({ finding: name, severity }) => severity !== 'info' && !REPORTED_ELSEWHERE.has(name))
        .filter(({ finding: name }) => known.value('chain_consensus_finding', { finding: name }) === 1)
        .map(({ finding: name, severity, suggestion }) =>
          finding(
            ALERTS[name] ?? 'ChainLogTrouble',
            { severity, says: `the consensus log shows ${name.replaceAll('_', ' ')}` },
            { evidence: ['Details: `chain-agent monlog`.'], advice: [suggestion] },
          ),
        )

const ALERTS: Readonly<Record<string, string>> = {
  timeout_deadlock: 'ChainConsensusDeadlock',
  not_voting: 'ChainNotVoting',
  network_errors: 'ChainNetworkNoise',
  clock_off: 'ChainClockDrift',
  execution_lagging: 'ChainExecutionLagging',
  wal_stopped: 'ChainWalStopped',
  panic: 'ChainAssertion',
  suppressed_messages: 'ChainLogsIncomplete',
}

/** Trouble lines of the last ten minutes, by the patterns of docs/patterns.md. */
export const logTrouble: Check = ({ readings: { logs } }) =>
  Object.entries(logs?.trouble ?? {}).flatMap(([service, lines]) => {
    if (lines.length === 0) return []
    // The collector keeps the text of the most severe lines.
    const isCritical = lines.some((line) => line.includes(': '))
    return [
      finding(
        'ChainLogTrouble',
        {
          severity: isCritical ? 'critical' : 'warning',
          says: `the log of ${service} shows ${lines.map((line) => line.split(': ')[0]?.replaceAll('_', ' ')).join(', ')}`,
        },
        {
          evidence: lines,
          advice: [
            `Read it: \`chain-agent logs ${service} --since 15m\`. For the meaning of each line, see docs/patterns.md.`,
          ],
        },
      ),
    ]
  })

/** Duties of a validator, as far as a single snapshot shows them. */
export const duty: Check = ({ known }) => {
  const missed = known.value('chain_ledger_own_consecutive_timeouts')
  const isBad = missed !== undefined && missed >= LIMITS.ownTimeouts.critical
  if (isBad) {
    return [
      finding(
        'ChainLeaderTimeoutsInARow',
        { severity: 'critical', says: `the last ${missed} rounds that this node led timed out` },
        { advice: [CHECK_PROPOSALS] },
      ),
    ]
  }
  const own = known.value('chain_duty_timeout_ratio', { scope: 'own' })
  const network = known.value('chain_duty_timeout_ratio', { scope: 'network' })
  const rounds = known.series('chain_duty_slots').reduce((sum, { value }) => sum + value, 0)
  if (own === undefined || network === undefined) return []
  const severity = above(own, LIMITS.ownTimeoutShare)
  const isOurs =
    rounds >= ENOUGH_OWN_ROUNDS &&
    network <= NETWORK_TIMEOUT_SHARE &&
    Math.sqrt(own) - Math.sqrt(network) > BEYOND_CHANCE / Math.sqrt(rounds)
  return severity && isOurs
    ? [
        finding(
          'ChainLeaderTimeouts',
          {
            severity,
            says: `${percent(own)} of the last ${figure(rounds)} rounds that this node led timed out`,
          },
          {
            evidence: [`Of all rounds of the network ${percent(network)} timed out.`],
            advice: [CHECK_PROPOSALS],
          },
        ),
      ]
    : []
}

const CHECK_PROPOSALS =
  'Check the clock, the connection and execution: `chain-agent status duties`, `chain-agent monlog`.'
/** The same number as in the rule of ChainLeaderTimeouts: a smaller difference may be chance. */
const BEYOND_CHANCE = 1.5

/** Transport sessions, as consensus reports them. */
export const peers: Check = ({ known }) => {
  const sessions = known.value('chain_native_sessions', { state: 'transport' })
  const discovered = known.value('chain_native_peers')
  if (sessions === undefined || isSyncing(known) || isNodeDown(known, 'bft')) return []
  const isIsolated = discovered !== undefined && discovered > MANY_PEERS && below(sessions, LIMITS.sessions)
  const few = isIsolated ? 'critical' : below(sessions, LIMITS.sessionsLow)
  return few
    ? [
        finding(
          isIsolated ? 'ChainIsolated' : 'ChainSessionsLow',
          {
            severity: few,
            says: `the node has ${figure(sessions)} transport sessions${discovered === undefined ? '' : `, and knows ${figure(discovered)} peers`}`,
          },
          { advice: ['Check the clock, and that its UDP ports are reachable from outside.'] },
        ),
      ]
    : []
}

/** A partial restart, and stale metrics of the node. */
export const oddities: Check = ({ known }) => [
  ...(known.value('chain_service_partial_restart') === 1
    ? [
        finding(
          'ChainPartialRestart',
          {
            severity: 'warning',
            says: 'consensus was restarted without execution',
          },
          {
            evidence: ['In this state execution may abort at the next epoch boundary.'],
            advice: ['Restart both together at a convenient time: `chain-agent recover`.'],
          },
        ),
      ]
    : []),
  ...(known.value('chain_native_zombie') === 1
    ? [
        finding(
          'ChainMetricsZombie',
          {
            severity: 'warning',
            says: "the node's own metrics do not change although the node advances",
          },
          { advice: ['Do not rely on them. If they come through `otelcol`, restart it.'] },
        ),
      ]
    : []),
]
