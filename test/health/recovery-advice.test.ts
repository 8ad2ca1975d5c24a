import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createSampleIndex } from '../../src/core/sample-index.ts'
import { sample } from '../../src/metrics.ts'
import { adviseRecovery } from '../../src/health/recovery.ts'
import { advise, AT, NOW } from './advise.ts'

const allDown = ['bft', 'execution', 'rpc']
const syncing = [
  sample('chain_native_statesync_active', 1),
  sample('chain_native_statesync_progress_block', 500_000),
  sample('chain_native_statesync_target_block', 1_000_000),
]
const fork = (check: 'version' | 'timeline', at: number) => [
  sample('chain_fork_activation_timestamp_seconds', at, { fork: 'aurora' }),
  sample('chain_fork_ready', 0, { fork: 'aurora', check }),
]

test('a soft reset names the files, where they go and how to see that they were fetched', () => {
  const { steps } = advise({ down: allDown, age: 300, behind: 1000 })
  expect(steps.join('\n')).toContain('/home/chain/chain-bft/config')
  expect(steps[0]).toMatch(
    /`sudo grep -oE '\^REMOTE_\(FORKPOINT\|VALIDATORS\)_URL=' \/home\/chain\/\.env`$/,
  )
  expect(steps[1]).toMatch(/`sudo systemctl stop chain-bft chain-execution chain-rpc`$/)
  expect(steps.at(-2)).toMatch(
    /`journalctl -u chain-bft .*replaced local configs with remote configs'`$/,
  )
})

describe('how far behind decides', () => {
  test.each([
    [599, 'start'],
    // From the window on nobody serves what was missed.
    [600, 'soft reset'],
    [30_000, 'soft reset'],
    [30_001, 'hard reset'],
  ])('a node that is down, %i blocks behind: %s', (behind, path) => {
    expect(advise({ down: allDown, age: 60, behind }).path).toBe(path)
  })

  test.each([
    // Blocks pass between two questions: that is no distance.
    [15, 'wait'],
    [16, 'restart together'],
    [600, 'soft reset'],
    [30_001, 'hard reset'],
  ])('a stalled node, %i blocks behind: %s', (behind, path) => {
    expect(advise({ age: 120, behind }).path).toBe(path)
  })

  test('a stalled node, and no reference answers: unknown, never a restart', () => {
    const { path, exitCode } = advise({ age: 120, behind: null })
    expect({ path, exitCode }).toEqual({ path: 'unknown', exitCode: 1 })
  })

  test("without references the agent's own reckoning counts, and what has passed is at least so much", () => {
    const left = (blocks: number) =>
      advise({
        down: allDown,
        age: 60,
        behind: null,
        more: [sample('chain_blocksync_window_remaining_blocks', blocks)],
      })
    expect(left(500).path).toBe('start')
    expect(left(500).why).toContainEqual(
      expect.stringMatching(/is 100 blocks behind, by the agent/),
    )
    expect(left(0).path).toBe('soft reset')
    expect(left(0).why).toContainEqual(expect.stringMatching(/at least 600 blocks behind/))
  })

  test('with neither, the age of the newest block: 100 seconds are 300 blocks', () => {
    const { path, why } = advise({ down: allDown, age: 100, behind: null })
    expect(path).toBe('start')
    expect(why).toContainEqual(expect.stringMatching(/is 300 blocks behind, by the age/))
  })

  test('two references that differ are no majority', () => {
    const { why } = advise({
      down: allDown,
      age: 100,
      behind: null,
      more: [
        sample('chain_reference_block_number', 2_000_000, { reference: 'b' }),
        sample('chain_reference_up', 1, { reference: 'b' }),
      ],
    })
    expect(why).toContainEqual(expect.stringMatching(/by the age/))
  })
})

describe('what is down', () => {
  test('all: start; one of the two: restart, so that both begin together', () => {
    expect(advise({ down: allDown, age: 20, behind: 60 }).steps.join(' ')).toContain(
      'systemctl start chain-bft chain-execution chain-rpc',
    )
    expect(advise({ down: ['bft'], age: 20, behind: 60 }).steps.join(' ')).toContain(
      'systemctl restart chain-bft chain-execution chain-rpc',
    )
  })
  test('the RPC alone: the one that may be restarted alone', () => {
    const { path, steps } = advise({ down: ['rpc'] })
    expect(path).toBe('restart rpc')
    expect(steps.join(' ')).not.toMatch(/bft|execution/)
  })
  test('never consensus alone, whatever is advised', () => {
    const ways = [
      advise({ down: ['bft'], age: 20, behind: 60 }),
      advise({ down: ['execution'], age: 20, behind: 60 }),
      advise({ age: 120, behind: 300 }),
      advise({ age: 120, behind: 40_000 }),
    ]
    for (const { steps } of ways) {
      expect(steps.join('\n')).not.toMatch(/systemctl (?:re)?start chain-bft(?! chain-execution)/)
    }
  })
})

describe('statesync', () => {
  const moved = (secondsAgo: number) =>
    sample('chain_statesync_last_progress_timestamp_seconds', NOW - secondsAgo)
  test.each([
    [1799, 'wait', 0],
    [1801, 'hard reset', 1],
  ])('that last moved %i seconds ago: %s', (secondsAgo, path, exitCode) => {
    const told = advise({ age: 9000, behind: 40_000, more: [...syncing, moved(secondsAgo)] })
    expect({ path: told.path, exitCode: told.exitCode }).toEqual({ path, exitCode })
  })
  test('a node that stopped amid it: what is down comes first', () => {
    const told = advise({ down: allDown, age: 9000, behind: 40_000, more: syncing })
    expect(told.says).toMatch(/more than 30,000 blocks behind/)
  })
})

describe('what a start would founder on comes before the start', () => {
  test('a keystore that is missing', () => {
    const lost = sample('chain_key_file_state', 1, {
      key: 'secp',
      kind: 'keystore',
      state: 'missing',
    })
    const { path, says, notNow } = advise({ more: [lost] })
    expect(path).toBe('restore keys')
    expect(says).toContain('the keystore of secp')
    expect(notNow.join(' ')).toContain('Do not restart the node')
    expect(advise({ down: allDown, age: 60, behind: 100, more: [lost] }).path).toBe('restore keys')
  })
  test('that nothing at all is there is another directory, and said', () => {
    const more = (['keystore', 'backup'] as const).flatMap((kind) =>
      (['secp', 'bls'] as const).map((key) =>
        sample('chain_key_file_state', 1, { key, kind, state: 'missing' }),
      ),
    )
    const { path, why } = advise({ more })
    expect(path).toBe('none')
    expect(why.join(' ')).toContain('see that `node.directory` is right')
  })
  test('a backup that is missing is no matter of recovery', () => {
    const lost = sample('chain_key_file_state', 1, { key: 'bls', kind: 'backup', state: 'missing' })
    expect(advise({ more: [lost] }).path).toBe('none')
  })
  test.each([
    ['db_old_format: DB is on older format', 'migrate'],
    ['disk_full: No space left on device', 'make room'],
    ['io_uring: io_uring_queue_init_params failed', 'mend host'],
    ['event_ring: event library error', 'mend host'],
    ['result_mismatch: Delayed execution result mismatch', 'hard reset'],
  ])('execution said %s: %s', (line, path) => {
    const told = advise({ down: ['execution'], age: 30, behind: 90, execution: [line] })
    expect(told.path).toBe(path)
    expect(told.why.join('\n')).toContain(line.split(': ')[1])
  })
  test('a wrong result that was said before execution was started anew may be over', () => {
    const execution = ['result_mismatch: Delayed execution result mismatch']
    expect(advise({ execution, startedAgo: 11 }).path).toBe('hard reset')
    expect(advise({ execution, startedAgo: 9 }).path).toBe('none')
  })
  test('one that was said beside a consensus that was started alone is of that', () => {
    const execution = ['result_mismatch: Delayed execution result mismatch']
    const more = [sample('chain_service_partial_restart', 1)]
    expect(advise({ execution, more }).path).toBe('restart together')
  })
  test('a fork that has come is an upgrade, whatever else is down', () => {
    const more = fork('version', NOW - 60)
    expect(advise({ down: allDown, age: 60, behind: 100, more }).path).toBe('upgrade')
  })
  test('one to come waits for what is down', () => {
    const more = fork('timeline', NOW + 3600)
    expect(advise({ down: allDown, age: 60, behind: 100, more }).path).toBe('start')
    expect(advise({ more }).path).toBe('migrate')
    expect(advise({ more: fork('timeline', NOW + 8 * 86_400) }).path).toBe('none')
  })
})

test('execution that says nothing for a minute, while the ledger goes on', () => {
  const ledger = sample('chain_agent_journal_last_entry_timestamp_seconds', NOW - 1, {
    service: 'ledger-tail',
  })
  const more = [ledger, sample('chain_consensus_committing', 1)]
  const told = advise({ age: 70, behind: 200, executionAt: AT - 70_000, more })
  expect(told.says).toContain('execution has executed nothing for 1 min')
  expect(advise({ age: 70, behind: 200, executionAt: AT - 50_000, more }).path).toBe('wait')
})

test('what the node printed cannot come out as it is', () => {
  const { why } = advise({
    down: ['execution'],
    age: 30,
    behind: 90,
    execution: [`abort: \u001b[2Jpassword=hunter2 ${'ab'.repeat(40)}`],
  })
  expect(why.join('\n')).toContain('The log has abort')
  for (const secret of ['\u001b', 'hunter2', 'abababab']) {
    expect(why.join('\n')).not.toContain(secret)
  }
})

test('nothing known at all is no advice', () => {
  const told = adviseRecovery({
    at: AT,
    origin: 'node',
    prefix: null,
    window: 600,
    known: createSampleIndex([]),
    collectors: [],
  })
  expect(told).toMatchObject({
    path: 'unknown',
    exitCode: 1,
    says: 'unknown: nothing is known of the node',
  })
})

test('every page that is named is there', () => {
  const pages = [
    advise({ down: allDown, age: 60, behind: 100 }),
    advise({ down: allDown, age: 60, behind: 1000 }),
    advise({ age: 120, behind: 100 }),
    advise({ age: 120, behind: null }),
    advise({ down: ['rpc'] }),
    advise({ behind: 100 }),
    advise({ more: syncing }),
    advise({ more: fork('version', NOW - 1) }),
    advise({ execution: ['result_mismatch: x'] }),
  ].map(({ runbook }) => runbook)
  for (const page of new Set(pages)) {
    expect(existsSync(new URL(`../../docs/runbooks/${page}.md`, import.meta.url)), `${page}`).toBe(
      true,
    )
  }
})
