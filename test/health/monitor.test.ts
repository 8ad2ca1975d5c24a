import { expect, test } from 'vitest'
import { FINDINGS } from '../../src/collectors/consensus/findings.ts'
import { createHealthMonitor, evaluateOnce } from '../../src/health/monitor.ts'
import { ruleSet } from '../../src/health/rules/index.ts'
import { addressOf } from '../../src/health/rules/rule.ts'

const START_S = 1_750_000_000

const BUILD = { name: 'chain_agent_build_info', labels: { version: '1' }, value: 1 }
const blockOf = (second: number) => ({
  name: 'chain_rpc_block_timestamp_seconds',
  labels: { tag: 'latest' },
  value: START_S + second,
})
/** Samples of a healthy node at the start. */
const FRESH = [BUILD, blockOf(0)]

/** A node whose newest block was produced at `block`, evaluated every 15 s until `until`, in seconds since the start. */
const evaluated = (blockAt: (second: number) => number | undefined, until: number, maintenance = 0) => {
  const monitor = createHealthMonitor(START_S * 1000)
  for (let second = 0; second <= until; second += 15) {
    const block = blockAt(second)
    monitor.evaluate((START_S + second) * 1000, [
      BUILD,
      { name: 'chain_agent_maintenance', labels: { reason: 'upgrade' }, value: maintenance },
      ...(block === undefined ? [] : [blockOf(block)]),
    ])
  }
  return monitor
}

test('an alert continues to fire after the clock was set back, and its times move with the clock', () => {
  // The critical alert is pending since 75 s and fires at 105 s.
  const monitor = evaluated(stalled, 105)
  const sinceOf = () => monitor.health().findings.find(({ state }) => state === 'firing')?.since
  expect(sinceOf()).toBe((START_S + 75) * 1000)
  const back = 2400
  // The newest block is 90 s old by the clock that was set.
  const at = START_S + 120 - back
  const changes = monitor.evaluate(at * 1000, [BUILD, blockOf(30 - back)], { steady: (START_S + 120) * 1000 })
  expect(changes).toEqual([])
  expect(monitor.health().state).toBe('critical')
  expect(sinceOf()).toBe((START_S + 75 - back) * 1000)
  expect(monitor.health().since).toBe((START_S + 75 - back) * 1000)
})

test('a node with fresh blocks is healthy, since the first evaluation', () => {
  const { state, since, findings } = evaluated((second) => second, 60).health()
  expect({ state, since }).toEqual({ state: 'healthy', since: START_S * 1000 })
  expect(findings.filter((one) => one.state === 'firing')).toEqual([])
})

// The block of second 30 is older than 10 s from 45 s on and older than 30 s from 75 s on; both must hold for 30 s.
const stalled = (second: number): number => Math.min(second, 30)

test.each([
  [45, 'warning', ['pending warning']],
  [75, 'critical', ['pending critical', 'firing warning']],
  [105, 'critical', ['firing critical']],
] as const)('a node without new blocks for %i s: %s', (until, state, findings) => {
  const health = evaluated(stalled, until).health()
  expect(health.state).toBe(state)
  const ofBlocks = health.findings.filter(({ alert }) => alert === 'ChainBlockStalled')
  expect(ofBlocks.map((one) => `${one.state} ${one.severity}`)).toEqual(findings)
})

test('reports when an alert begins to fire, changes its severity and no longer fires', () => {
  const monitor = createHealthMonitor(START_S * 1000)
  const seconds = Array.from({ length: 40 }, (_, index) => index * 15)
  // No block between 30 s and 200 s: older than 10 s from 45 s, than 30 s from 75 s, each for 30 s; it ends 3 minutes later.
  const changes = seconds.flatMap((second) =>
    monitor.evaluate((START_S + second) * 1000, [BUILD, blockOf(second < 200 ? stalled(second) : second)]),
  )
  expect(changes.map(({ at, from, to, severity }) => [at / 1000 - START_S, from, to, severity])).toEqual([
    [75, 'not firing', 'warning: the newest block of the node is too old', 'warning'],
    [105, expect.any(String), 'critical: the newest block of the node is too old', 'critical'],
    [390, expect.any(String), 'not firing', 'info'],
  ])
  expect(changes[0]).toMatchObject({ collector: 'alerts', subject: 'ChainBlockStalled' })
})

test('a counter that begins again, as after a restart of the node, still increases', () => {
  const monitor = createHealthMonitor(START_S * 1000)
  // Once in 5 s: above the limit of 12 in 2 minutes from 60 s on, which must hold for 5 minutes. The node restarts at 180 s.
  for (let second = 0; second <= 360; second += 15) {
    const value = (second < 180 ? 1000 + second : second - 180) / 5
    const lagging = { name: 'chain_native_events_total', labels: { event: 'execution_lagging' }, value }
    monitor.evaluate((START_S + second) * 1000, [BUILD, blockOf(second), lagging])
  }
  const found = monitor.health().findings.filter(({ alert }) => alert === 'ChainExecutionSlow.lagging')
  expect(found.map(({ state, since }) => [state, since / 1000 - START_S])).toEqual([['firing', 60]])
})

test('a finding has the time at which its condition became true, and its value in words', () => {
  const [finding] = evaluated(stalled, 105).health().findings
  expect(finding).toMatchObject({ alert: 'ChainBlockStalled', since: (START_S + 75) * 1000, labels: {} })
  expect(finding?.description).toContain('is 1 min 15 s old')
})

test('an alert for Alertmanager starts when it fires, not when its condition became true', () => {
  const target = { job: 'a', instance: 'b', labels: {}, runbooks: null, dashboards: null }
  // Both are active since 45 s and 75 s, and fire 30 s later.
  const startsAt = (until: number, state: 'pending' | 'firing') =>
    evaluated(stalled, until)
      .alerts(target, state, { at: until * 1000, recovery: null, prefix: 'chain' })
      .filter(({ labels }) => labels['alertname'] === 'ChainBlockStalled')
      .map(({ labels, startsAt: at }) => [labels['severity'], at / 1000 - START_S])
  expect([startsAt(90, 'pending'), startsAt(90, 'firing')]).toEqual([[['critical', 105]], [['warning', 75]]])
})

test('a finding is over with its condition, also while its alert fires for some minutes more', () => {
  // No block from 30 s to 150 s: both alerts fire, and keep firing for three minutes.
  const monitor = evaluated((second) => (second < 150 ? Math.min(second, 30) : second), 165)
  const stalls = monitor.health().findings.filter(({ alert }) => alert === 'ChainBlockStalled')
  expect(stalls.map(({ state, countsAs }) => [state, countsAs])).toEqual([['firing', null]])
  expect(monitor.health().state).toBe('healthy')
})

test('a warning that is still true counts, although the critical alert fires for some minutes more', () => {
  // The block is 90 s old at 120 s, and 15 s from 135 s on: above 10 s, below 30 s.
  const monitor = evaluated((second) => (second < 135 ? Math.min(second, 30) : second - 15), 165)
  expect(monitor.health().state).toBe('warning')
})

test('evaluations for requests keep no samples, and change no duration', () => {
  const monitor = createHealthMonitor(START_S * 1000)
  const at = (second: number, isExtra: boolean) => {
    monitor.evaluate((START_S + second) * 1000, [BUILD, blockOf(Math.min(second, 30))], { isExtra })
  }
  // At 41 s the block is 11 s old, above the limit of 10 s.
  for (let second = 0; second <= 60; second += 1) at(second, second % 15 !== 0)
  const onsets = monitor.health().findings.flatMap(({ alert, since }) => (alert === 'ChainBlockStalled' ? [since] : []))
  expect(onsets).toEqual([(START_S + 41) * 1000])
})

const unsynchronised = (second: number) => [
  BUILD,
  blockOf(second),
  { name: 'chain_host_clock_synchronized', labels: {}, value: 0 },
]

test('a rule that waits ten minutes or more does not count while it is pending, but in a single reading', () => {
  const monitor = createHealthMonitor(START_S * 1000)
  const stateAt = (second: number) => {
    monitor.evaluate((START_S + second) * 1000, unsynchronised(second))
    const { state, findings } = monitor.health()
    const ofClock = findings.filter(({ alert }) => alert === 'ChainClockDrift.unsynchronised')
    return [state, ofClock.map((one) => [one.alert, one.state, one.countsAs])]
  }
  for (let second = 0; second < 600; second += 15) {
    expect(stateAt(second)).toEqual(['healthy', [['ChainClockDrift.unsynchronised', 'pending', null]]])
  }
  expect(stateAt(600)).toEqual(['warning', [['ChainClockDrift.unsynchronised', 'firing', 'warning']]])
  expect(evaluateOnce(START_S * 1000, unsynchronised(0)).state).toBe('warning')
})

test('in a maintenance window findings about the work of the node do not count', () => {
  const health = evaluated(stalled, 105, 1).health()
  expect(health.state).toBe('maintenance')
  expect(health.findings.map(({ alert }) => alert)).toContain('ChainBlockStalled')
})

test('without any block the state is unknown from the first evaluation on, and not healthy', () => {
  expect(evaluated(() => undefined, 0).health().state).toBe('unknown')
  expect(evaluated(() => undefined, 300).health().state).toBe('unknown')
})

test('before the first evaluation the state is unknown, and there is no number of findings', () => {
  const samples = createHealthMonitor(START_S * 1000).samples()
  expect(samples.filter(({ name }) => name === 'chain_node_findings')).toEqual([])
  expect(samples.find(({ labels }) => Object.values(labels)[0] === 'unknown')?.value).toBe(1)
})

test('a rule that cannot be evaluated is reported, and the others still are', () => {
  const monitor = createHealthMonitor(START_S * 1000)
  // Two heights of one service: the rule on their difference cannot match them one to one.
  const heights = ['one', 'two'].map((extra) => ({ name: 'chain_query_service_height', labels: { extra }, value: 5 }))
  monitor.evaluate(START_S * 1000, [
    ...FRESH,
    { name: 'chain_query_service_node_height', labels: {}, value: 7 },
    ...heights,
  ])
  expect(monitor.health().failures).toEqual([
    'Cannot evaluate the rule instance:chain_query_service_behind:blocks: several elements of the right side match one of the left side',
  ])
  // What it would have found is unknown.
  expect(monitor.health().state).toBe('warning')
})

test('after a failed evaluation the health is unknown, and known again after the next one', () => {
  const monitor = evaluated(stalled, 105)
  monitor.fail((START_S + 120) * 1000)
  expect(monitor.health()).toMatchObject({ state: 'unknown', unknownBecause: 'no evaluation', findings: [] })
  monitor.evaluate((START_S + 135) * 1000, [BUILD, blockOf(30)])
  expect(monitor.health().state).toBe('critical')
})

/** A start is information; its alert fires if it does not end. */
const withAlert = FINDINGS.filter(
  ({ alert, finding }) => alert !== null && alert !== 'ChainLogTrouble.consensus-finding' && finding !== 'start_active',
)
test.each(withAlert)('the finding $finding of the log has a severity of $alert', ({ alert, severity }) => {
  const severities = ruleSet().alerts.flatMap(({ row }) => (addressOf(row) === alert ? [row.severity] : []))
  expect(severities).toContain(severity)
})

test('the alert of a watcher has the node as its instance, and the watcher as its own label', () => {
  const monitor = createHealthMonitor(START_S * 1000)
  const silent = [
    BUILD,
    { name: 'chain_watched_heartbeat_timestamp_seconds', labels: { node: 'node-a' }, value: START_S - 300 },
    { name: 'chain_watched_port', labels: { node: 'node-a', state: 'silent' }, value: 1 },
  ]
  for (const second of [0, 75]) monitor.evaluate((START_S + second) * 1000, silent)
  const target = { job: 'agents', instance: 'w', labels: {}, runbooks: null, dashboards: null }
  const facts = { at: START_S * 1000, prefix: 'chain', recovery: { action: 'Restart', deadline: null } }
  expect(monitor.alerts(target, 'firing', facts)).toMatchObject([
    {
      labels: { alertname: 'ChainWatchedNodeSilent', why: 'nothing', instance: 'node-a', watcher: 'w', job: 'agents' },
      annotations: {
        // Not the recovery of the host of the watcher.
        action: 'See the last report of the node: `chain-agent status watched` on the watcher.',
        description:
          'w has received no heartbeat of node-a for 6m 15s, more than 2 minutes. Its public port does not answer either: the host or its network is down. The agent of the node cannot report it.',
        seen: 'Seen from w, not by the agent of the node.',
      },
    },
  ])
  const silence = monitor.health().findings.find(({ alert }) => alert === 'ChainWatchedNodeSilent.nothing')
  expect(silence?.labels).toEqual({ node: 'node-a' })
})
