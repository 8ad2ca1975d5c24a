import { describe, expect, test } from 'vitest'
import { sample } from '../../src/core/metric.ts'
import { advise, NOW } from './advise.ts'

const allDown = ['bft', 'execution', 'rpc']
const fork = (check: 'version' | 'timeline', at: number) => [
  sample('chain_fork_activation_timestamp_seconds', at, { fork: 'aurora' }),
  sample('chain_fork_ready', 0, { fork: 'aurora', check }),
]

describe('problems that make a start fail come before the start', () => {
  test('a keystore that is missing', () => {
    const lost = sample('chain_key_file_state', 1, {
      key: 'secp',
      kind: 'keystore',
      state: 'missing',
    })
    const { path, summary, notNow } = advise({ more: [lost] })
    expect(path).toBe('restore keys')
    expect(summary).toContain('the keystore of secp')
    expect(notNow.join(' ')).toContain('Do not restart the node')
    expect(advise({ down: allDown, age: 60, behind: 100, more: [lost] }).path).toBe('restore keys')
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
    test.each([
      ['one reference, and the node advances', [other], {}, 'none'],
      ['one reference, and the node has stopped', [other], { age: 120, behind: 100 }, 'unknown'],
      ['one of two, and the node has stopped', [other, same], { age: 120, behind: 100 }, 'unknown'],
      ['one of three, and the node has stopped', [other, same, same], { age: 120, behind: 100 }, 'restart together'],
      ['both', [other, other], {}, 'hard reset'],
      ['two of three', [other, other, same], { age: 120, behind: 100 }, 'hard reset'],
      ['two of four', [other, other, same, same], {}, 'none'],
      [
        'both at one height only',
        [
          [false, true],
          [false, true],
        ] as const,
        {},
        'none',
      ],
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
    const more = fork('version', NOW - 60)
    expect(advise({ down: allDown, age: 60, behind: 100, more }).path).toBe('upgrade')
  })
  test('a coming fork waits until the services run', () => {
    const more = fork('timeline', NOW + 3600)
    expect(advise({ down: allDown, age: 60, behind: 100, more }).path).toBe('start')
    expect(advise({ more }).path).toBe('migrate')
    expect(advise({ more: fork('timeline', NOW + 8 * 86_400) }).path).toBe('none')
  })
})
