import { describe, expect, test } from 'vitest'
import { decodeReadings } from '../../src/commands/shared/agent-snapshot.ts'
import type { Readings } from '../../src/collectors/index.ts'
import { createSampleIndex, type ReadingName, type Sample } from '../../src/core/metric.ts'
import { createHealthMonitor, evaluateOnce } from '../../src/health/monitor.ts'
import type { RuleFinding } from '../../src/parsers/agent-status.ts'
import { diagnose } from '../../src/health/diagnosis.ts'
import { findingsOf, underCauses } from '../../src/health/finding.ts'
import { FINDING } from './advise.ts'

/** 03:00 UTC. */
const NOW = Date.UTC(2026, 2, 1, 3)
const S = NOW / 1000

type Series = readonly [ReadingName, number, Record<string, string>?]

const blockAge = (age: number): Series => ['chain_rpc_block_timestamp_seconds', S - age, { tag: 'latest' }]

const HEALTHY: readonly Series[] = [
  ['chain_rpc_up', 1],
  ['chain_rpc_block_number', 1000, { tag: 'latest' }],
  blockAge(1),
  ['chain_block_difference', 0],
  ['chain_blocks_per_second', 2],
]

/** A single reading of a node with these series. */
const read = (series: readonly Series[], readings: Readings = {}) => {
  const samples = series.map(([name, value, labels = {}]): Sample => ({ name, value, labels }))
  const build = { name: 'chain_agent_build_info', labels: { version: '1' }, value: 1 }
  const health = evaluateOnce(NOW, [...samples, build])
  const known = createSampleIndex(samples)
  const settings = { epochs: new Map(), devices: [] }
  return { at: NOW, origin: 'node' as const, prefix: null, known, collectors: [], readings, health, ...settings }
}

/** The same of a healthy node in which these series differ. */
const changed = (series: readonly Series[], readings: Readings = {}) => {
  const key = ([name, , labels]: Series): string => `${name}${JSON.stringify(labels ?? {})}`
  return read([...new Map([...HEALTHY, ...series].map((one) => [key(one), one])).values()], readings)
}

const found = (series: readonly Series[]): readonly string[] =>
  diagnose(changed(series)).causes.map(({ severity, name }) => `${severity} ${name}`)

const down = (service: string): readonly Series[] => [
  ['chain_service_expected', 1, { service }],
  ['chain_service_active', 0, { service }],
]

test('a healthy node', () => {
  expect(diagnose(changed([]))).toMatchObject({
    at: NOW,
    word: 'OK',
    sentence: 'the node keeps up with the chain.',
    causes: [],
    exitCode: 0,
    recovery: { path: 'none', left: null },
  })
})

test('a finding has the text of its rule, with values', () => {
  expect(diagnose(changed([blockAge(45)]))).toMatchObject({
    word: 'CRITICAL',
    sentence: 'the newest block of the node is too old.',
    exitCode: 2,
    causes: [
      { name: 'ChainBlockStalled', timing: 'In a single reading; fires after 30 s.', evidence: [], consequences: [] },
    ],
  })
})

test.each<readonly [string, readonly Series[], readonly string[]]>([
  ['of two severities only the worse', [blockAge(31)], ['critical ChainBlockStalled']],
  ['at the limit', [blockAge(10)], []],
  ['above it', [blockAge(11)], ['warning ChainBlockStalled']],
  // 41 blocks at 2 a second are 20.5 s.
  ['behind', [['chain_block_difference', 41]], ['critical ChainBehind']],
  // ChainServiceDown, which explains the rest.
  ['consensus is down', [...down('bft'), blockAge(500), ['chain_rpc_up', 0]], ['critical ChainServiceDown']],
  [
    'an auxiliary service explains nothing',
    [...down('ledger-tail'), blockAge(500)],
    ['critical ChainBlockStalled', 'warning ChainServiceDown'],
  ],
  [
    'statesync explains the rest',
    [['chain_native_statesync_active', 1], ['chain_rpc_up', 0], blockAge(50_000)],
    ['warning ChainStatesync'],
  ],
  ['a single request to the RPC may have timed out', [['chain_rpc_up', 0]], ['warning ChainRpcDown']],
])('%s', (_, series, findings) => {
  expect(found(series)).toEqual(findings)
})

test('log lines of the last minutes are new, although their counter has one value', () => {
  const lines = { name: 'chain_log_pattern_total', labels: { service: 'execution', pattern: 'block_failed' }, value: 2 }
  const node = { ...changed([]), health: evaluateOnce(NOW, [lines]) }
  const { causes } = diagnose(node)
  expect(causes.find(({ name }) => name === 'ChainLogTrouble')).toMatchObject({
    severity: 'critical',
    summary: 'the log of execution contains an error: block_failed',
    evidence: [
      expect.stringContaining('matched block_failed within 10 minutes'),
      'block_failed: Execution rejected a block that consensus accepted, and ended with exit code 1.',
    ],
  })
})

test('a finding began with the first of its severities', () => {
  const monitor = createHealthMonitor(NOW)
  const [name, value, labels = {}] = blockAge(45)
  const samples = [
    { name, value, labels },
    { name: 'chain_rpc_up', value: 1, labels: {} },
    { name: 'chain_agent_build_info', value: 1, labels: { version: '1' } },
  ]
  // The block is 15 s old, then 45 s.
  for (const at of [NOW - 30_000, NOW]) monitor.evaluate(at, samples)
  const node = { ...changed([blockAge(45)]), origin: 'agent', health: monitor.health() } as const
  expect(diagnose(node).causes).toMatchObject([
    { name: 'ChainBlockStalled', severity: 'critical', timing: 'For 30 s; fires in 30 s.' },
  ])
  const notified = { ...node, readings: decodeReadings({ alertmanagers: { states: { 'a:1': 'accepted' } } }) }
  expect(diagnose(notified).causes).toMatchObject([{ timing: 'For 30 s; pages in 30 s.' }])
})

const findingFrom = (alert: string, more: Partial<RuleFinding> = {}): RuleFinding => ({
  ...FINDING,
  alert,
  since: NOW,
  summary: alert,
  advice: ['Start it.'],
  ...more,
})

test('a panic with a pattern of its own is listed once', () => {
  const finding = (pattern: string): RuleFinding => {
    const labels = { service: 'bft', pattern }
    return findingFrom('ChainLogTrouble.aborted', { summary: `bft has aborted: ${pattern}`, labels })
  }
  const summaryOf = (...lines: readonly string[]) => {
    const logs = { lastEntryAt: null, oldestEntryAt: new Map(), states: new Map(), trouble: { bft: lines } }
    const all = [finding('panic'), finding('high_qc_too_far')]
    return findingsOf(all, { snapshot: changed([], { logs }), isRecovering: false })[0]?.summary
  }
  expect(summaryOf('panic: too far ahead', 'high_qc_too_far: too far ahead')).toBe('bft has aborted: high_qc_too_far')
  expect(summaryOf('panic: another one', 'high_qc_too_far: too far ahead')).toBe(
    'bft has aborted: panic and high_qc_too_far',
  )
})

test('rows of one alert with the same steps are one finding, and its consequences are those of each row', () => {
  const stalledBy = (alert: string) => findingFrom('ChainBlockStalled', { advice: [], explainedBy: [alert] })
  const listed = (...all: readonly RuleFinding[]) =>
    underCauses(findingsOf(all, { snapshot: changed([]), isRecovering: false })).map(({ name, consequences }) => [
      name,
      ...consequences.map((one) => one.name),
    ])
  const failed = findingFrom('ChainServiceDown.failed', { summary: 'rpc is down (failed)' })
  const stopped = findingFrom('ChainServiceDown', { summary: 'bft is down' })
  const push = findingFrom('ChainServiceDown.push', { advice: ['Start otelcol.'] })
  expect(listed(failed, stopped, stalledBy('ChainServiceDown'))).toEqual([
    ['ChainServiceDown.failed', 'ChainBlockStalled'],
  ])
  // Another row of the same name explains nothing.
  expect(listed(push, stalledBy('ChainServiceDown.missing'))).toEqual([
    ['ChainServiceDown.push'],
    ['ChainBlockStalled'],
  ])
})

test('a stalled node without a validator that feeds it says so', () => {
  const feeding = (validators: number) =>
    diagnose(changed([blockAge(45), ['chain_native_upstream_validators', validators]])).causes[0]?.evidence ?? []
  expect(feeding(0)).toContain('No validator feeds this node.')
  expect(feeding(1)).not.toContain('No validator feeds this node.')
})

test('subjects of one alert are one finding', () => {
  const { causes, sentence } = diagnose(changed([...down('bft'), ...down('execution'), ...down('ledger-tail')]))
  expect(sentence).toBe('bft and execution are down.')
  expect(causes.map(({ severity, timing }) => [severity, timing])).toEqual([
    ['critical', 'In a single reading; fires after 45 s.'],
    ['warning', 'In a single reading; fires after 5 min.'],
  ])
})

test('a fault of the agent comes after that of the node; headline and recovery are about the same fault', () => {
  const { sentence, causes, recovery } = diagnose(
    changed([
      ['chain_agent_collector_up', 0, { collector: 'storage' }],
      ['chain_service_partial_restart', 1],
    ]),
  )
  expect(causes.map(({ name }) => name)).toEqual(['ChainPartialRestart', 'ChainCollectorDown'])
  expect(sentence).toBe('consensus was restarted without execution.')
  expect(recovery.runbook).toBe('ChainPartialRestart')
})

describe('unknown is not healthy', () => {
  const noRpc: Series = ['chain_rpc_up', 0]
  const lost: Series = ['chain_key_file_state', 1, { key: 'secp', kind: 'keystore', state: 'missing' }]
  const causesOf = (series: readonly Series[]) => {
    const { word, causes, exitCode } = diagnose(read(series))
    expect({ word, exitCode }).toEqual({ word: 'UNKNOWN', exitCode: 2 })
    return causes.map(({ name, summary }) => `${name}: ${summary}`)
  }
  test('systemd knows no unit, and no RPC answers: no node, whatever else is missing', () => {
    const units = ['bft', 'execution', 'rpc'].flatMap((service): readonly Series[] => [
      ['chain_service_expected', 1, { service }],
      ['chain_service_state', 1, { service, state: 'not-found' }],
    ])
    expect(causesOf([noRpc, lost, ...units])).toEqual([
      'ChainServiceDown.missing: there is no node on this host, or none that this user can see',
    ])
  })
  test('neither systemd nor an RPC answers: not that there is no node', () => {
    expect(causesOf([noRpc, lost, ['chain_agent_collector_up', 0, { collector: 'services' }]])).toEqual([
      'ChainBlind: neither systemd nor the RPC of the node answers: the state of the node is unknown',
      'ChainKeyFile.missing: the keystore of the key secp is missing',
      'ChainRpcDown: the RPC of the node does not return a valid answer',
      'ChainCollectorDown: no readings from the collector services',
    ])
  })
  test('no source of blocks', () => {
    expect(diagnose(read([]))).toMatchObject({
      word: 'UNKNOWN',
      sentence: 'whether the chain advances is unknown: no source reports a block.',
      exitCode: 2,
    })
  })
})

describe('maintenance', () => {
  const window: Readings = {
    maintenance: { reason: 'upgrade', until: new Date(NOW + 300_000).toISOString(), note: null },
  }
  const isSet: Series = ['chain_agent_maintenance', 1, { reason: 'upgrade' }]

  test('explains findings about the work of the node', () => {
    expect(diagnose(changed([blockAge(90), isSet], window))).toMatchObject({
      word: 'MAINTENANCE',
      sentence: 'upgrade, 5 min left; the newest block of the node is too old.',
      exitCode: 0,
    })
  })
  test('does not explain an exposed port', () => {
    const exposed: Series = ['chain_host_port_exposed', 1, { port: '8080' }]
    const verdict = diagnose(changed([blockAge(90), exposed, isSet], window))
    expect(verdict).toMatchObject({ word: 'WARNING', exitCode: 1 })
    expect(verdict.sentence).toContain(': 8080.')
  })
})

const REFERENCE: readonly Series[] = [
  ['chain_reference_up', 1, { reference: 'a' }],
  ['chain_reference_block_number', 1100, { reference: 'a' }],
]

test.each([
  ['restart together', REFERENCE],
  ['unknown', []],
])('one fault is one cause, and the recovery is its first step: %s', (path, reference) => {
  // 100 blocks at 2 a second are 50 s: 700 of the 800 that peers serve are left, 5 min 50 s.
  const { sentence, causes, recovery } = diagnose(
    changed([blockAge(50), ['chain_block_difference', 100], ...reference]),
  )
  expect(sentence).toBe('the newest block of the node is too old.')
  expect(causes.map(({ name, consequences }) => [name, consequences.map((one) => one.name)])).toEqual([
    ['ChainBlockStalled', ['ChainBehind']],
  ])
  expect(recovery.path).toBe(path)
  expect(causes[0]?.advice[0]).toBe('See the steps of the recovery: `chain-agent recover`.')
  expect(causes[0]?.advice.filter((step) => step.includes('recover`'))).toHaveLength(1)
})

test('a healthy node while no reference answers', () => {
  const series = HEALTHY.filter(([name]) => name !== 'chain_block_difference')
  const sentence = 'the node has new blocks; how far the network is, is unknown.'
  expect(diagnose(read(series))).toMatchObject({ word: 'OK', sentence })
})

test('rules that could not be evaluated are a finding', () => {
  const node = changed([])
  const health = { ...node.health, state: 'warning', failures: ['Cannot evaluate the rule ChainBehind: why'] } as const
  expect(diagnose({ ...node, health })).toMatchObject({
    word: 'WARNING',
    sentence: 'some health rules could not be evaluated: their conditions are unknown.',
    causes: [{ evidence: ['Cannot evaluate the rule ChainBehind: why'] }],
  })
})
