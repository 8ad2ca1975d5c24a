import { describe, expect, test } from 'vitest'
import { hasSeverity, severityOf } from '../../src/collectors/severity.ts'
import { limitOf } from '../../src/health/rules/index.ts'
import { derivedStates } from '../../src/collectors/derived/collector.ts'

/** Collector, subject, and what each of its states is worth: every kind of state that a scenario produces. */
const STATES: readonly (readonly [string, string, Readonly<Record<string, string>>])[] = [
  [
    'consensus',
    'consensus log',
    {
      'no findings': 'info',
      not_committing: 'critical',
      timeout_deadlock: 'critical',
      not_voting: 'critical',
      pacing_differs: 'critical',
      wal_not_written: 'critical',
      'network_errors, panic': 'critical',
      too_far_behind: 'critical',
      rounds_closed_by_timeout: 'warning',
      'local_timeouts, network_errors': 'warning',
      snapshot_advised: 'warning',
      clock_off: 'warning',
      execution_lagging: 'warning',
      wal_stopped: 'warning',
    },
  ],
  ['consensus', 'consensus log, unparsed', { 'Not understood: {"a"': 'warning' }],
  ['execution', 'execution log, unparsed', { 'Not understood: x': 'warning' }],
  ['ledger', 'ledger stream, unparsed', { 'Not understood: x': 'warning' }],
  ['native', 'metrics, unparsed', { 'Not understood: x': 'warning' }],
  [
    'derived',
    'blocksync window',
    {
      open: 'info',
      'below 450 blocks': 'warning',
      'below 300 blocks: restart now, or expect statesync': 'critical',
      'passed: expect statesync': 'critical',
    },
  ],
  ['derived', "the node's own metrics", { changing: 'info', 'unchanged while the node progresses': 'warning' }],
  ['derived', 'new blocks', { arriving: 'info', 'none for 30 s': 'critical' }],
  ['derived', 'database', { 'below 85 % used': 'info', 'above 85 % used': 'critical' }],
  ['derived', 'distance to the network', { 'at most 30 blocks': 'info', 'more than 30 blocks': 'warning' }],
  ['heartbeat', 'heartbeat', { accepted: 'info', 'refused: HTTP status 503': 'warning' }],
  ['heartbeat', 'health', { healthy: 'info', maintenance: 'info', critical: 'critical', unknown: 'warning' }],
  ['host', 'host, known', { 'load, memory': 'info', none: 'info' }],
  ['host', 'host, not available', { none: 'info', throttling: 'info' }],
  [
    'host',
    'host, clock',
    {
      'synchronized according to chrony': 'info',
      'not synchronized according to systemd': 'warning',
      'not synchronized: chrony has had no response from its servers for hours': 'warning',
    },
  ],
  ['host', 'host, ports', { 'none exposed': 'info', 'exposed: 8080': 'warning' }],
  ['host', 'host, frequency governor', { performance: 'info', powersave: 'warning' }],
  [
    'host',
    'host, kernel',
    {
      '6.8.0-87-generic': 'info',
      '6.8.0-60-generic, and known to break nodes': 'critical',
      'not known: could not get a response in time: none within 8s': 'warning',
    },
  ],
  ['host', 'host, kernel after a reboot', { '6.8.0-88-generic': 'info', '6.8.0-60, and bad': 'warning' }],
  ['host', 'host, temperature of drives', { 'hot: nvme0': 'warning', 'nvme0: not available': 'info' }],
  [
    'host',
    'host, health of drives',
    {
      'failing: nvme0': 'critical',
      'nvme0: no fresh report; see `systemctl status x`': 'warning',
      'not known: host.smartDirectory is not set (docs/host.md)': 'info',
    },
  ],
  ['host', 'host, file system of wal', { 'less than 5 % free': 'critical', 'not found; correct the path': 'warning' }],
  ['host', 'host, multithreading', { on: 'info', off: 'info', 'not known: the previous read': 'warning' }],
  ['host', 'host, limits of services', { 'no running service is known': 'info' }],
  ['keys', 'key files', { 'all are accessible': 'info', 'not all are accessible; run': 'warning' }],
  ['keys', 'secp backup', { ok: 'info', missing: 'warning', 'invalid: empty': 'warning', 'exposed: group': 'warning' }],
  [
    'keys',
    'bls keystore',
    {
      ok: 'info',
      'unverified: no permission to read it': 'info',
      missing: 'critical',
      'invalid: x': 'critical',
      'exposed: x': 'warning',
    },
  ],
  ['keys', 'environment file', { ok: 'info', missing: 'critical' }],
  [
    'logs',
    'execution log',
    {
      'no failures': 'info',
      slow_commit: 'warning',
      'slow_commit; cleanup_skipped': 'warning',
      'result_mismatch: Delayed execution result mismatch; slow_commit': 'critical',
      'assertion: blocks diverge': 'critical',
    },
  ],
  ['maintenance', 'maintenance', { none: 'info', 'upgrade, until 2026-03-01T12:59:00.000Z': 'info' }],
  ['native', 'metrics at native', { answering: 'info', timeout: 'warning', 'refused: no connection': 'warning' }],
  ['native', 'metrics of consensus', { changing: 'info', 'not changing': 'warning' }],
  ['reference', 'reference other-rpc', { answering: 'info', 'another chain': 'warning', timeout: 'warning' }],
  [
    'rpc',
    'node RPC',
    {
      answering: 'info',
      timeout: 'critical',
      'refused: no connection (ECONNREFUSED)': 'critical',
      'http: HTTP status 500': 'critical',
      jsonrpc: 'critical',
      invalid: 'critical',
    },
  ],
  [
    'services',
    'bft',
    {
      active: 'info',
      reloading: 'info',
      activating: 'warning',
      deactivating: 'warning',
      inactive: 'critical',
      'inactive (not enabled)': 'info',
      'failed (core-dump 6)': 'critical',
      failed: 'critical',
      'not found': 'critical',
      masked: 'critical',
    },
  ],
  ['services', 'otelcol', { active: 'info', inactive: 'warning', 'failed (exit-code 1)': 'warning' }],
  ['services', 'cruft', { activating: 'info', 'inactive (not enabled)': 'info', failed: 'warning' }],
  ['status', 'reported consensus', { 'in-sync': 'info', 'out-of-sync': 'warning', unknown: 'warning' }],
  ['status', 'reported RPC', { active: 'info', inactive: 'warning' }],
  ['status', 'reported mode', { live: 'info', statesync: 'info' }],
  ['status', 'reported statesync', { none: 'info', 'under way or done': 'info' }],
  ['status', 'status report, unknown keys', { 'a.b': 'warning' }],
  [
    'storage',
    'storage report',
    {
      'layout E': 'info',
      'layout E, incomplete': 'warning',
      'layout E, 3 unparsed lines': 'warning',
    },
  ],
  ['tokens', 'balances of demo', { known: 'info', 'the history is being read': 'info', 'no connection': 'warning' }],
  ['version', 'installed version', { '0.16.1': 'info', unknown: 'info' }],
  ['version', 'running version', { '0.16.1 (rpc)': 'info' }],
  ['version', 'restart', { 'not due': 'info', 'pending: see both versions': 'info' }],
  ['version', 'program node', { 'reports its version': 'info', 'could not run it': 'warning' }],
  ['version', 'package', { 'unknown: no dpkg': 'warning' }],
  [
    'version',
    'fork aurora',
    {
      'ready for 2026-03-02T12:58Z': 'info',
      'not ready for 2026-03-02T12:58Z: needs 0.17': 'warning',
      '2026-03-02T12:58Z; unknown: version': 'info',
    },
  ],
]

describe.each(STATES)('%s: %s', (collector, subject, states) => {
  test.each(Object.entries(states))('%s is %s', (to, severity) => {
    expect(hasSeverity({ collector, subject, to })).toBe(true)
    expect(severityOf({ collector, subject, to })).toBe(severity)
  })
})

test('a collector that fails or is silent is a warning, one that works is not', () => {
  const of = (to: string) => severityOf({ collector: 'rpc', subject: undefined, to })
  expect([of('working'), of('failing: no answer'), of('silent: no reading')]).toEqual(['info', 'warning', 'warning'])
})

test('a subject without a row is reported as such', () => {
  expect(hasSeverity({ collector: 'rpc', subject: 'new subject', to: 'bad' })).toBe(false)
})

test('states by a figure change where the alerts do', () => {
  const state = (figures: Partial<Parameters<typeof derivedStates>[0]>) =>
    derivedStates({
      windowBlocks: null,
      zombie: null,
      blockAgeSeconds: null,
      blocksBehind: null,
      storageUsedRatio: null,
      ...figures,
    })
  expect(state({ storageUsedRatio: limitOf('ChainStorageFull', 'critical') })).toEqual({
    database: 'below 85 % used',
  })
  expect(state({ storageUsedRatio: 0.86 })).toEqual({ database: 'above 85 % used' })
  const critical = limitOf('ChainBlockStalled', 'critical')
  expect(state({ blockAgeSeconds: critical })).toEqual({ 'new blocks': 'arriving' })
  expect(state({ blockAgeSeconds: critical + 1 })).toEqual({ 'new blocks': 'none for 30 s' })
  expect(state({ blocksBehind: 31 })).toEqual({ 'distance to the network': 'more than 30 blocks' })
})
