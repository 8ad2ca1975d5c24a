import { describe, expect, test } from 'vitest'
import { type Sample, sample } from '../../src/core/metric.ts'
import { advise, ALL_DOWN, forkAt, NOW } from './advise.ts'

describe('problems that make a start fail come before the start', () => {
  test('a keystore that is missing', () => {
    const lost = sample('chain_key_file_state', 1, { key: 'secp', kind: 'keystore', state: 'missing' })
    const { path, summary, notNow } = advise({ more: [lost] })
    expect(path).toBe('restore keys')
    expect(summary).toContain('the keystore of secp')
    expect(notNow.join(' ')).toContain('Do not restart the node')
    expect(advise({ down: ALL_DOWN, age: 60, behind: 100, more: [lost] }).path).toBe('restore keys')
  })
  test('if all files are missing, the evidence suggests another directory', () => {
    const more = (['keystore', 'backup'] as const).flatMap((kind) =>
      (['secp', 'bls'] as const).map((key) => sample('chain_key_file_state', 1, { key, kind, state: 'missing' })),
    )
    const { path, why } = advise({ more })
    expect(path).toBe('none')
    expect(why.join(' ')).toContain('check `node.directory`')
  })
  test('a missing backup needs no recovery', () => {
    const lost = sample('chain_key_file_state', 1, { key: 'bls', kind: 'backup', state: 'missing' })
    expect(advise({ more: [lost] }).path).toBe('none')
  })
  test.each([
    ['db_old_format: DB is on older format', 'migrate'],
    ['disk_full: No space left on device', 'make room'],
    ['io_uring: io_uring_queue_init_params failed', 'fix host'],
    ['event_ring: event library error', 'fix host'],
    ['result_mismatch: Delayed execution result mismatch', 'hard reset'],
  ])('execution logged %s: %s', (line, path) => {
    const advice = advise({ down: ['execution'], age: 30, behind: 90, execution: [line] })
    expect(advice.path).toBe(path)
    expect(advice.why.join('\n')).toContain(line.split(': ')[1])
  })
  test('a wrong result logged before execution was restarted may be resolved', () => {
    const execution = ['result_mismatch: Delayed execution result mismatch']
    expect(advise({ execution, startedAgo: 11 }).path).toBe('hard reset')
    expect(advise({ execution, startedAgo: 9 }).path).toBe('none')
  })
  describe('another block than the references', () => {
    const other = [false, false] as const
    const same = [true, true] as const
    const once = [false, true] as const
    test.each([
      ['one reference, and the node advances', [other], {}, 'none'],
      ['one reference, and the node has stopped', [other], { age: 120, behind: 100 }, 'unknown'],
      ['one of two, and the node has stopped', [other, same], { age: 120, behind: 100 }, 'unknown'],
      ['one of three, and the node has stopped', [other, same, same], { age: 120, behind: 100 }, 'restart together'],
      ['both', [other, other], {}, 'hard reset'],
      ['two of three', [other, other, same], { age: 120, behind: 100 }, 'hard reset'],
      ['two of four', [other, other, same, same], {}, 'none'],
      ['both at one height only', [once, once], {}, 'none'],
    ] as const)('%s: %s', (...[, compared, node, path]) => {
      expect(advise({ ...node, compared }).path).toBe(path)
    })
    test('the counter of consensus alone is no proof', () => {
      const rejected = sample('chain_native_events_total', 10_000, { event: 'bad_state_root' })
      expect(advise({ more: [rejected], compared: [same] }).path).toBe('none')
      expect(advise({ more: [rejected] }).path).toBe('none')
    })
  })
  test('a wrong result after a partial restart is a consequence of it', () => {
    const execution = ['result_mismatch: Delayed execution result mismatch']
    const more = [sample('chain_service_partial_restart', 1)]
    expect(advise({ execution, more }).path).toBe('restart together')
  })
  test('an active fork needs an upgrade, whatever else is down', () => {
    const more = forkAt(NOW - 60, 'version')
    expect(advise({ down: ALL_DOWN, age: 60, behind: 100, more }).path).toBe('upgrade')
  })
  test('a coming fork waits until the services run', () => {
    const more = forkAt(NOW + 3600, 'timeline')
    expect(advise({ down: ALL_DOWN, age: 60, behind: 100, more }).path).toBe('start')
    expect(advise({ more }).path).toBe('migrate')
    expect(advise({ more: forkAt(NOW + 8 * 86_400, 'timeline') }).path).toBe('none')
  })
})

const timelines = (primary: string, secondary?: string) =>
  [['primary', primary] as const, ...(secondary === undefined ? [] : [['secondary', secondary] as const])].map(
    ([timeline, kind]) => sample('chain_storage_timeline_info', 1, { timeline, kind }),
  )
const stopped = (line: string, more: readonly Sample[] = []) =>
  advise({ down: ['execution'], age: 30, behind: 90, execution: [line], more })
const commandsOf = ({ steps }: { readonly steps: readonly string[] }): string =>
  steps.map((step) => /`([^`]+)`$/.exec(step)?.[1] ?? '').join('\n')

test('the old format: one command of a second, on every device, and no reset', () => {
  const line = "db_old_format: DB is on older format (magic=X007). Run 'x-mpt --upgrade --storage <path>'"
  const advice = stopped(line)
  expect(commandsOf(advice)).toContain('sudo chain-mpt --storage /dev/triedb --upgrade')
  expect(advice.steps.join(' ')).not.toMatch(/snapshot|hard reset|hours/)
  expect(advice.notNow.join(' ')).toContain('Do not reset the database')
})

test('a version that execution does not know: another release, not --upgrade', () => {
  const advice = stopped('db_old_format: DB was generated with version 9. The current code base is on version 8.')
  expect(advice.summary).toMatch(/^install the release that the database belongs to/)
  expect(commandsOf(advice)).not.toContain('-mpt')
})

test('no page-encoded timeline: about 8 minutes, never hours, and no hard reset as the faster way', () => {
  const advice = stopped('timeline_missing: x')
  expect(advice.steps.join(' ')).toContain('It takes about 8 minutes [v0.15.2].')
  expect(advice.steps.join(' ')).not.toMatch(/hours|hard reset/)
  expect(commandsOf(advice)).toContain('sudo chain-mpt --storage /dev/triedb --promote-secondary')
  expect(advice.notNow.join(' ')).toMatch(/Do not empty the database to save time.*Do not install a release older/)
})

test('a timeline is not promoted before the fork that requires it', () => {
  const before = advise({ more: forkAt(NOW + 3600, 'timeline') })
  expect(commandsOf(before)).not.toContain('--promote-secondary')
  expect(before.notNow.join(' ')).toContain('Do not promote the page-encoded timeline before the fork')
  expect(commandsOf(advise({ more: forkAt(NOW, 'timeline') }))).toContain('--promote-secondary')
})

test.each([
  // An archive node after the upgrade to v0.16.3.
  { name: 'slot and page', kinds: timelines('ethereum', 'chain'), summary: /^promote the page-/, isPromoted: true },
  { name: 'slot alone', kinds: timelines('ethereum'), summary: /^migrate the database/, isPromoted: true },
  { name: 'page already', kinds: timelines('chain', 'ethereum'), summary: /^compare the release/, isPromoted: false },
  { name: 'unknown', kinds: [], summary: /^promote the page-encoded timeline/, isPromoted: true },
])('primary_encoding, $name', ({ kinds, summary, isPromoted }) => {
  const advice = stopped('primary_encoding: Assertion x failed', kinds)
  expect(advice.summary).toMatch(summary)
  expect(commandsOf(advice).includes('--promote-secondary')).toBe(isPromoted)
})

test('the wrong primary encoding is not a partial restart, although an assertion failed', () => {
  const execution = ['assertion: x', 'primary_encoding: x']
  const advice = advise({ down: ['execution'], age: 30, behind: 90, execution })
  expect(advice.path).toBe('migrate')
})

test('the database of a hard reset is page-encoded', () => {
  const { path, steps } = advise({ down: ALL_DOWN, age: 60, behind: 40_000 })
  expect(path).toBe('hard reset')
  expect(steps).toContainEqual(expect.stringMatching(/^Since the fork MIP-8 .*created with `--state-machine chain`/))
  // Between the restore and the start.
  const [restore, check, start] = ['Reset the workspace', 'before the start', 'Start the services'].map((part) =>
    steps.findIndex((step) => step.includes(part)),
  )
  expect(restore).toBeLessThan(check ?? 0)
  expect(check).toBeLessThan(start ?? 0)
})

test.each([
  ['slot first', timelines('ethereum', 'chain'), ['--promote-secondary', '--deactivate-secondary']],
  // Promoting again would make the slot-encoded one the primary.
  ['page first', timelines('chain', 'ethereum'), ['--deactivate-secondary']],
  ['page alone', timelines('chain'), []],
])('full, %s: the slot-encoded timeline goes first', (_, kinds, options) => {
  const chunks = [
    sample('chain_storage_chunks', 0, { list: 'free' }),
    sample('chain_storage_chunks', 100, { list: 'fast' }),
  ]
  const { path, steps } = advise({ more: [...kinds, ...chunks] })
  expect(path).toBe('make room')
  expect(commandsOf({ steps }).match(/--(?:promote|deactivate)-secondary/g) ?? []).toEqual(options)
  // Before the fork a promoted database stops execution.
  const promotions = steps.filter((step) => step.includes('--promote-secondary'))
  expect(promotions.filter((step) => !step.startsWith('If the fork MIP-8 is active'))).toEqual([])
})

test('a block that fails is no reason for a reset: it is not committed', () => {
  const { path, steps } = advise({ execution: ['block_failed: block 7 failed with: x'] })
  expect(path).toBe('restart together')
  expect(steps.join(' ')).toContain('Compare the version')
  expect(commandsOf({ steps })).not.toContain('mpt')
})
