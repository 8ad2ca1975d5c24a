import { describe, expect, test } from 'vitest'
import { createFiringLog, type Firing, incidentsOf } from '../../../src/commands/replay/firings.ts'
import { selectReplayRules } from '../../../src/commands/replay/rules.ts'
import { addressOf } from '../../../src/health/rules/rule.ts'

describe('the alerts of a replay', () => {
  const { rules, notEvaluated } = selectReplayRules()
  const evaluated = new Set(rules.alerts.map(({ row }) => addressOf(row)))

  test.each([
    'ChainLogTrouble.aborted',
    'ChainBlockStalled',
    'ChainBlocksyncWindow',
    'ChainCleanup.deletes-nothing',
    'ChainBlockStalled.deadlock',
    'ChainExecutionSlow',
    'ChainLogsIncomplete.format',
    'ChainLeaderTimeouts',
    'ChainLeaderTimeouts.in-a-row',
    'ChainLogTrouble',
    'ChainLogsIncomplete.no-new-entries',
    'ChainPartialRestart',
    'ChainBlockStalled.rebooted',
    'ChainServiceCrashed',
    'ChainServiceDown',
    'ChainServiceCrashed.restarts',
    'ChainStatesync',
    'ChainStorageFull.free-chunks',
    'ChainStorageFull',
    'ChainLogTrouble.timeline-missing',
    'ChainUptimeBudget.fast',
    'ChainUptimeBudget.slow',
    'ChainLogTrouble.wal-stopped',
  ])('%s is evaluated', (alert) => {
    expect(evaluated).toContain(alert)
  })

  // An absent series is a fault of the agent's host in Prometheus, and in a replay only not in the journal.
  test('the rules without any sample do not fire', () => {
    const log = createFiringLog(rules)
    for (let at = 0; at <= 7_200_000; at += 15_000) log.evaluate(at, [])
    expect(log.firings()).toEqual([])
  })

  test.each([
    ['it needs another source', 'ChainRpcDown', 'rpc'],
    [
      'a series that it reads is only in metrics of the node, and another of the same metric is in the journal',
      'ChainStateDiverged.bad-state-root',
      'native',
    ],
    ['a recording rule needs another source', 'ChainNotVoting', 'native'],
    ['it is about an absent series', 'ChainBlind.references', 'reference'],
    ['it is about the agent', 'ChainAgentDown', undefined],
  ])('if %s, it is not evaluated: %s', (_, alert, need) => {
    expect(evaluated).not.toContain(alert)
    expect(notEvaluated.alerts).toContain(alert)
    if (need !== undefined) expect(notEvaluated.needs).toContain(need)
  })
})

describe('the firing log', () => {
  const { rules } = selectReplayRules()
  /** The used share of the database every 15 s from 0 on; ChainStorageFull is above 0.85 for 15 minutes. */
  const logOf = (shares: readonly number[]) => {
    const log = createFiringLog(rules)
    for (const [index, value] of shares.entries()) {
      log.evaluate(index * 15_000, [{ name: 'chain_execution_storage_used_ratio', labels: {}, value }])
    }
    return log
  }
  const times = (value: number, count: number): readonly number[] => Array.from({ length: count }, () => value)
  const full = (log: ReturnType<typeof logOf>) => log.firings().filter(({ alert }) => alert === 'ChainStorageFull')

  test('has a firing after `for`, with the description at the worst value', () => {
    // 15 minutes are 60 intervals: from the second sample, at 15 s, to the 62nd, at 915 s.
    const log = logOf([0.5, ...times(0.9, 60), 0.97, 0.9, 0.5])
    expect(full(log)).toMatchObject([
      { severity: 'warning', subject: '', beganAt: 15_000, firedAt: 915_000, endedAt: 945_000 },
    ])
    expect(full(log)[0]?.summary).toContain('The database of this host has been 97% full for 15 minutes, above 85%')
  })

  test('has no firing if the condition ended before', () => {
    expect(full(logOf([...times(0.9, 60), 0.5]))).toEqual([])
  })

  test('has no end while the alert fires, and the time of a reset as its end', () => {
    expect(full(logOf(times(0.9, 61))).map(({ endedAt }) => endedAt)).toEqual([null])
    const log = logOf(times(0.9, 61))
    log.reset(901_000)
    log.evaluate(9_000_000, [{ name: 'chain_execution_storage_used_ratio', labels: {}, value: 0.9 }])
    expect(full(log).map(({ endedAt }) => endedAt)).toEqual([901_000])
  })

  test('has the log line of an alert about a pattern, and its labels as subject', () => {
    const log = createFiringLog(rules)
    for (const [index, value] of [0, 1].entries()) {
      const labels = { service: 'bft', pattern: 'panic' }
      log.evaluate(index * 15_000, [{ name: 'chain_log_pattern_total', labels, value }], {
        lineOf: () => 'thread panicked',
      })
    }
    expect(log.firings()).toMatchObject([
      { alert: 'ChainLogTrouble.aborted', subject: 'bft panic', beganAt: 15_000, firedAt: 15_000, endedAt: null },
    ])
    expect(log.firings()[0]?.summary).toMatch(/ matched panic within .* Log line: thread panicked$/)
  })
})

describe('incidents', () => {
  const firing = (alert: string, beganAt: number, more: Partial<Firing> = {}): Firing => ({
    alert,
    severity: 'warning',
    subject: '',
    beganAt,
    firedAt: beganAt,
    endedAt: beganAt + 1000,
    summary: '',
    ...more,
  })
  const MINUTE = 60_000

  test('contain what begins within five minutes of each other', () => {
    const found = incidentsOf([
      firing('A', 0),
      firing('B', 4 * MINUTE),
      firing('C', 9 * MINUTE),
      firing('D', 14 * MINUTE + 1),
    ])
    expect(found.map(({ firings }) => firings.map(({ alert }) => alert))).toEqual([['A', 'B', 'C'], ['D']])
  })

  test('have the most severe first, and merge two severities of one alert', () => {
    const critical = { severity: 'critical', endedAt: 5 * MINUTE, summary: 'worse' } as const
    const [incident] = incidentsOf([
      firing('Other', 0),
      firing('A', 1000, { endedAt: 8 * MINUTE }),
      firing('A', 2000, critical),
    ])
    expect(incident?.firings).toEqual([firing('A', 1000, { ...critical, endedAt: 8 * MINUTE }), firing('Other', 0)])
    expect(incident).toMatchObject({ severity: 'critical', beganAt: 0, endedAt: 8 * MINUTE })
  })
})
