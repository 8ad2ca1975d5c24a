import { describe, expect, test } from 'vitest'
import { createSampleIndex, type Sample, sample } from '../../src/core/metric.ts'
import { createHealthMonitor } from '../../src/health/monitor.ts'
import { adviseRecovery } from '../../src/health/recovery.ts'
import { advise, ALL_DOWN, AT, FINDING, NOW } from './advise.ts'

const syncing = [
  sample('chain_native_statesync_active', 1),
  sample('chain_native_statesync_progress_block', 500_000),
  sample('chain_native_statesync_target_block', 1_000_000),
]

test('a soft reset names the files, where they go and how to see that they were fetched', () => {
  const { steps } = advise({ down: ALL_DOWN, age: 300, behind: 1000 })
  expect(steps.join('\n')).toContain('/home/chain/chain-bft/config')
  expect(steps[0]).toMatch(/^Read the last log lines/)
  expect(steps[1]).toMatch(/`sudo grep -oE '\^REMOTE_\(FORKPOINT\|VALIDATORS\)_URL=' \/home\/chain\/\.env`$/)
  expect(steps[2]).toMatch(/`sudo systemctl stop chain-bft chain-execution chain-rpc`$/)
  // "using remote configs", "using remote forkpoint", and the same with "local": all lines of get_latest_configs.
  expect(steps.at(-2)).toMatch(/`journalctl -u chain-bft .* -g 'using \(remote\|local\)'`$/)
})

describe('the distance to the network decides', () => {
  test.each([
    [600, 'start'],
    // Of the limits 800 (one request), 900 (a live node) and 1,000 (cache of peers) the smallest decides.
    [800, 'start'],
    [801, 'soft reset'],
    [30_000, 'soft reset'],
    [30_001, 'hard reset'],
  ])('a node that is down, %i blocks behind: %s', (behind, path) => {
    expect(advise({ down: ALL_DOWN, age: 60, behind }).path).toBe(path)
  })

  test.each([
    // Blocks pass between two requests: a small difference does not count.
    [15, 'wait'],
    [16, 'restart together'],
    [800, 'restart together'],
    [801, 'soft reset'],
    [30_000, 'soft reset'],
    [30_001, 'hard reset'],
  ])('a stalled node, %i blocks behind: %s', (behind, path) => {
    expect(advise({ age: 120, behind }).path).toBe(path)
  })

  test.each([
    [2, 100, 'wait'],
    [4, 100, 'restart together'],
    // ChainBlocksyncWindow is critical below 300 blocks: of the window of 800, 299 are left.
    [2, 500, 'wait'],
    [2, 501, 'restart together'],
  ])('a node that stalls %i minutes after a start, %i blocks behind: %s', (consensusStartedAgo, behind, path) => {
    expect(advise({ age: 120, behind, consensusStartedAgo }).path).toBe(path)
  })

  test('a stalled node, and no reference answers: unknown, never a restart', () => {
    const { path, exitCode } = advise({ age: 120, behind: null })
    expect({ path, exitCode }).toEqual({ path: 'unknown', exitCode: 1 })
  })

  test("without references the agent's own estimate counts, as a lower bound once the window has closed", () => {
    const left = (blocks: number) => {
      const more = [sample('chain_blocksync_window_remaining_blocks', blocks)]
      return advise({ down: ALL_DOWN, age: 60, behind: null, more })
    }
    expect(left(700).path).toBe('start')
    expect(left(700).why).toContainEqual(expect.stringMatching(/is 100 blocks behind, by the agent/))
    expect(left(0).why).toContainEqual(expect.stringMatching(/at least 800 blocks behind/))
  })

  test('a setting that was read replaces the default: 3/2 of 400 are 600 blocks', () => {
    const threshold = (behind: number, setting: number) =>
      advise({ down: ALL_DOWN, age: 60, behind, more: [sample('chain_node_statesync_threshold_blocks', setting)] })
    expect(threshold(600, 400).path).toBe('soft reset')
    expect(threshold(599, 400).path).toBe('start')
    // The limit of one request does not depend on it.
    expect(threshold(800, 2000).path).toBe('start')
    expect(threshold(801, 2000).path).toBe('soft reset')
    expect(threshold(100, 400).why.join(' ')).toContain('with 600 blocks (the blocksync window)')
    expect(advise({ down: ALL_DOWN, age: 60, behind: 100 }).why.join(' ')).toContain('with 800 blocks by default')
  })

  test('beyond 600 rounds both URLs lead to statesync, although blocksync would do', () => {
    const why = (behind: number) => advise({ down: ALL_DOWN, age: 60, behind }).why.join(' ')
    expect(why(600)).not.toContain('REMOTE')
    expect(why(601)).toContain('consensus takes the remote forkpoint and statesyncs')
  })

  test('no plan promises a statesync that the local forkpoint does not lead to', () => {
    const stopped = advise({ down: ALL_DOWN, age: 300, behind: 1000 })
    const running = advise({ age: 300, behind: 1000 })
    for (const { why, steps } of [stopped, running]) {
      expect(why.join(' ')).toContain('With its local forkpoint consensus does not begin a statesync')
      expect(steps.join(' ')).not.toContain('or statesync begins')
    }
    expect(advise({ age: 120, behind: 300 }).steps.join(' ')).not.toContain('statesync')
  })

  test('the clock in the log of execution is not the age of a block', () => {
    // Execution works through old blocks now: without an RPC nothing shows their age.
    const whyWith = (references: readonly Sample[]) =>
      adviseRecovery({
        at: AT,
        origin: 'agent',
        prefix: 'chain',
        epochs: new Map(),
        devices: [],
        known: createSampleIndex([
          sample('chain_service_active', 0, { service: 'bft' }),
          sample('chain_service_expected', 1, { service: 'bft' }),
          sample('chain_execution_block_number', 1_000_000),
          sample('chain_execution_block_started_timestamp_seconds', NOW),
          ...references,
        ]),
        collectors: [],
        health: { findings: [] },
        readings: {},
      }).why
    expect(whyWith([])).toContain('How far the node is behind is not known.')
    const references = ['a', 'b'].flatMap((reference) => [
      sample('chain_reference_up', 1, { reference }),
      sample('chain_reference_block_number', 1_000_500, { reference }),
    ])
    expect(whyWith(references)).toContain('The node is 500 blocks behind, by the height that the references agree on.')
  })

  test('with neither, the age of the newest block: 100 seconds are 300 blocks', () => {
    const { path, why } = advise({ down: ALL_DOWN, age: 100, behind: null })
    expect(path).toBe('start')
    expect(why).toContainEqual(expect.stringMatching(/is 300 blocks behind, by the age/))
  })

  test('two references that differ are no majority', () => {
    const more = [
      sample('chain_reference_block_number', 2_000_000, { reference: 'b' }),
      sample('chain_reference_up', 1, { reference: 'b' }),
    ]
    const { why } = advise({ down: ALL_DOWN, age: 100, behind: null, more })
    expect(why).toContainEqual(expect.stringMatching(/by the age/))
  })
})

describe('services that are down', () => {
  test('all: start; one of the two: restart, so that both start together', () => {
    expect(advise({ down: ALL_DOWN, age: 20, behind: 60 }).steps.join(' ')).toContain(
      'systemctl start chain-bft chain-execution chain-rpc',
    )
    expect(advise({ down: ['bft'], age: 20, behind: 60 }).steps.join(' ')).toContain(
      'systemctl restart chain-bft chain-execution chain-rpc',
    )
  })
  test('the RPC alone: only it may be restarted alone', () => {
    const { path, steps } = advise({ down: ['rpc'] })
    expect(path).toBe('restart rpc')
    expect(steps.join(' ')).not.toMatch(/bft|execution/)
  })
  test('consensus is never restarted alone', () => {
    const plans = [
      advise({ down: ['bft'], age: 20, behind: 60 }),
      advise({ down: ['execution'], age: 20, behind: 60 }),
      advise({ age: 120, behind: 300 }),
      advise({ age: 120, behind: 40_000 }),
    ]
    for (const { steps } of plans) {
      expect(steps.join('\n')).not.toMatch(/systemctl (?:re)?start chain-bft(?! chain-execution)/)
    }
  })
})

describe('statesync', () => {
  const moved = (secondsAgo: number) => sample('chain_statesync_last_progress_timestamp_seconds', NOW - secondsAgo)
  /** The findings of the rules, and the advice, after half an hour in which the estimate did not change. */
  const adviseAfter = (minutes: number, bytesAt: (minute: number) => number | undefined) => {
    const monitor = createHealthMonitor(AT - 60_000 * minutes)
    const samplesAt = (minute: number): readonly Sample[] => [
      sample('chain_agent_build_info', 1, { version: '1', revision: 'a', profile: 'node', node_version: 'v20' }),
      ...syncing,
      moved(60 * minutes),
      ...[bytesAt(minute)].flatMap((bytes) =>
        bytes === undefined ? [] : [sample('chain_native_database_used_bytes', bytes)],
      ),
    ]
    for (let minute = 0; minute <= minutes; minute += 1) {
      monitor.evaluate(AT - 60_000 * (minutes - minute), samplesAt(minute))
    }
    const { findings } = monitor.health()
    return advise({ age: 9000, behind: 40_000, more: samplesAt(minutes), findings })
  }

  const grows = (minute: number) => 1e9 + minute
  const stays = () => 1e9
  test.each([
    { minutes: 29, database: 'stays the same', bytesAt: stays, path: 'wait', exitCode: 0 },
    { minutes: 31, database: 'stays the same', bytesAt: stays, path: 'hard reset', exitCode: 1 },
    { minutes: 31, database: 'is unknown', bytesAt: () => undefined, path: 'hard reset', exitCode: 1 },
    // A statesync that works: a restart would discard the progress of its target.
    { minutes: 31, database: 'grows', bytesAt: grows, path: 'wait', exitCode: 0 },
    { minutes: 300, database: 'grows', bytesAt: grows, path: 'wait', exitCode: 0 },
  ])(
    'whose estimate has not changed for $minutes min, and the use of the database $database: $path',
    ({ minutes, bytesAt, path, exitCode }) => {
      const advice = adviseAfter(minutes, bytesAt)
      expect({ path: advice.path, exitCode: advice.exitCode }).toEqual({ path, exitCode })
      expect(advice.steps.join('\n').includes('systemctl')).toBe(path === 'hard reset')
    },
  )

  test('is not restarted before the use of its database was compared', () => {
    expect(adviseAfter(31, stays).why).toContain('The use of its database has not changed for 10 min.')
    const [first = '', ...rest] = adviseAfter(31, () => undefined).steps
    expect(first).toMatch(/^Read the use of the database twice.*wait/)
    expect(rest.join('\n')).toContain('systemctl restart')
  })

  test('a node that stopped during statesync: services that are down come first', () => {
    const advice = advise({ down: ALL_DOWN, age: 9000, behind: 40_000, more: syncing })
    expect(advice.summary).toMatch(/more than 30,000 blocks behind/)
  })
})

describe('a start that is not live', () => {
  const more = [sample('chain_native_start_active', 1)]
  test.each([
    [2, 'wait'],
    [3, 'fix host'],
  ])('after %i minutes: %s', (consensusStartedAgo, path) => {
    const advice = advise({ age: 300, behind: 900, consensusStartedAgo, more })
    expect(advice).toMatchObject({ path, runbook: 'ChainStartStalled' })
  })
  test('no progress is lost by a restart, and a newer forkpoint helps if no peer has the blocks', () => {
    const steps = advise({ age: 300, behind: 900, consensusStartedAgo: 10, more }).steps.join('\n')
    expect(steps).toMatch(/status peers`[\s\S]*REMOTE_[\s\S]*systemctl restart chain-bft chain-execution chain-rpc`$/)
  })
})

test('the distance and the age in one sentence are of one block', () => {
  // The ledger stream is ahead of the executed state, as in a stop of execution.
  const ledger = [
    sample('chain_ledger_seq_num', 1_000_113, { event: 'proposed' }),
    sample('chain_ledger_block_timestamp_seconds', NOW, { event: 'proposed' }),
  ]
  const { why } = advise({ down: ['execution'], age: 44, behind: 113, more: ledger })
  expect(why).toContain(
    'The node is 113 blocks behind, by the height that the references agree on. The block that is compared is 44 s old.',
  )
  // A height without a time: of the storage report, 20 blocks above the RPC's.
  const stored = [sample('chain_storage_latest_block', 1_000_020, { state: 'proposed' })]
  const other = advise({ down: ['execution'], age: 44, behind: 113, more: [...ledger, ...stored] })
  expect(other.why).toContain(
    'The node is 93 blocks behind, by the height that the references agree on; its RPC is 113 blocks behind.',
  )
})

test('a lost keystore: the dry run first, and a running node keeps running', () => {
  const lost = [sample('chain_key_file_state', 1, { key: 'secp', kind: 'keystore', state: 'missing' })]
  const running = advise({ more: lost }).steps.join('\n')
  expect(running).toMatch(/keys restore --dry-run`[\s\S]*keys restore --while-running`/)
  expect(running).not.toContain('systemctl')
  const stopped = advise({ down: ALL_DOWN, age: 60, behind: 100, more: lost }).steps.join('\n')
  expect(stopped).toMatch(/--dry-run`[\s\S]*keys restore`[\s\S]*systemctl start chain-bft chain-execution chain-rpc`/)
})

test('execution that logs nothing for a minute while the ledger advances', () => {
  const ledger = sample('chain_agent_journal_last_entry_timestamp_seconds', NOW - 1, { service: 'ledger-tail' })
  const more = [ledger, sample('chain_consensus_committing', 1)]
  const advice = advise({ age: 70, behind: 200, executionAt: AT - 70_000, more })
  expect(advice.summary).toContain('execution has executed nothing for 1 min')
  expect(advise({ age: 70, behind: 200, executionAt: AT - 50_000, more }).path).toBe('wait')
})

test('log lines of the node are shown without control characters and secrets', () => {
  const execution = [`abort: \u001b[2Jpassword=hunter2 ${'ab'.repeat(40)}`]
  const { why } = advise({ down: ['execution'], age: 30, behind: 90, execution })
  expect(why.join('\n')).toContain('The log has abort')
  for (const secret of ['\u001b', 'hunter2', 'abababab']) {
    expect(why.join('\n')).not.toContain(secret)
  }
})

test.each([
  ['nothing critical', []],
  ['a critical finding', [FINDING]],
])('systemd and the RPC do not answer, with %s: the recovery is unknown, and nothing is restarted', (_, findings) => {
  const advice = adviseRecovery({
    at: AT,
    origin: 'node',
    prefix: null,
    epochs: new Map(),
    devices: ['/dev/triedb'],
    known: createSampleIndex([sample('chain_agent_collector_up', 0, { collector: 'services' })]),
    collectors: [],
    health: { findings },
    readings: {},
  })
  expect(advice).toMatchObject({
    path: 'unknown',
    exitCode: 1,
    summary: 'unknown: neither systemd nor the RPC of the node answers: the state of the node is unknown',
    notNow: ['Do not restart services for this: nothing shows a fault of the node.'],
  })
})

test.each([
  ['ChainServiceDown', { down: ALL_DOWN, age: 60, behind: 100 }],
  ['ChainBlocksyncWindow', { down: ALL_DOWN, age: 60, behind: 1000 }],
  ['ChainBlockStalled.deadlock', { age: 120, behind: 100 }],
  ['ChainBlockStalled', { age: 120, behind: null }],
  ['ChainRpcDown', { down: ['rpc'] }],
  ['ChainBehind', { behind: 100 }],
  ['ChainStatesync', { more: syncing }],
  ['ChainStateDiverged.bad-state-root', { execution: ['result_mismatch: x'] }],
])('the plan names the runbook %s', (runbook, node) => {
  expect(advise(node).runbook).toBe(runbook)
})
