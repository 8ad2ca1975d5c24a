import { describe, expect, test } from 'vitest'
import { createHealthMonitor } from '../../src/health/monitor.ts'
import { DEFAULT_TUNING, RULE_FILES, ruleFiles, ruleSet } from '../../src/health/rules/index.ts'
import { addressOf, alertsOf } from '../../src/health/rules/rule.ts'
import { readLimits, unitOf } from '../../src/health/settings.ts'
import { definition } from '../../src/collectors/execution/definition.ts'

const rows = alertsOf(RULE_FILES)
const rowOf = (address: string) => rows.find((row) => addressOf(row) === address)

describe('values of limits', () => {
  test.each([
    ['ChainExecutionSlow', 'limit', '25ms', 0.025],
    ['ChainBehind', 'critical', '1.5 min', 90],
    ['ChainForkNotReady', 'warning', '10d', 864_000],
    ['ChainBlockStalled.rebooted', 'limit', '2h', 7200],
    ['ChainDiskFull', 'limit', '7%', 0.07],
    ['ChainDiskFull', 'limit', 0.07, 0.07],
    ['ChainDiskFull.filling', 'limit', '30%', 0.3],
    ['ChainBlocksyncWindow', 'warning', '400', 400],
    ['ChainBehind', 'for', '1m30s', '1m30s'],
  ])('%s.%s=%s', (...[alert, setting, written, expected]) => {
    expect(readLimits({ [alert]: { [setting]: written } })).toEqual({
      limits: { [alert]: { [setting]: expected } },
      problems: [],
    })
  })

  test.each([
    [
      'ChainPeersFew',
      'limit',
      5,
      [],
      'one of ChainPeersFew.upstream, ChainPeersFew.sessions: each has limits of its own',
    ],
    ['ChainBehnd', 'warning', 5, ['ChainBehnd'], 'the name of an alert (did you mean ChainBehind?)'],
    ['ChainBehind', 'warnin', 5, ['warnin'], 'warning, critical, for of ChainBehind (did you mean warning?)'],
    ['ChainBehind', 'limit', 5, ['limit'], 'warning, critical, for of ChainBehind'],
    ['ChainMaintenance', 'limit', 5, ['limit'], 'no setting: ChainMaintenance has none'],
    ['ChainBehind', 'warning', '5%', ['warning'], 'a number like 25ms, 90s, 15min or 2d'],
    ['ChainBehind', 'warning', '-5s', ['warning'], 'a number like 25ms, 90s, 15min or 2d'],
    ['ChainDiskFull', 'limit', '5 GiB', ['limit'], 'a number like 5% or 0.05'],
    ['ChainDiskFull', 'limit', 7, ['limit'], 'a ratio of at most 1, like 5% or 0.05'],
    ['ChainBehind', 'for', '30', ['for'], 'a duration in whole numbers, like 30s, 5m or 1h30m'],
    ['ChainBehind', 'for', '', ['for'], 'a duration in whole numbers, like 30s, 5m or 1h30m'],
    ['ChainBehind', 'warning', '20.5s', [], 'a critical limit above that of the warning, 20.5'],
    ['ChainBlocksyncWindow', 'warning', 200, [], 'a critical limit below that of the warning, 200'],
    [
      'ChainExecutionSlow',
      'limit',
      '30ms',
      ['limit'],
      'a bound of the histogram in seconds: one of 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.4',
    ],
  ])('%s.%s=%s is rejected', (...[alert, setting, written, path, expected]) => {
    const { problems } = readLimits({ [alert]: { [setting]: written } })
    expect(problems).toEqual([{ path: path[0] === alert ? path : [alert, ...path], message: `expected ${expected}` }])
  })

  test('the bounds of the histogram are those of the metric', () => {
    const { buckets } = definition.metrics.chain_execution_block_duration_seconds
    expect(rowOf('ChainExecutionSlow')?.limits).toEqual(buckets)
  })

  test.each([
    [
      'seconds',
      ['ChainBehind', 'ChainExecutionSlow', 'ChainClockDrift', 'ChainLogsIncomplete.evicted', 'ChainForkNotReady'],
    ],
    ['ratio', ['ChainDiskFull', 'ChainNotVoting', 'ChainStorageFull.free-chunks', 'ChainHostSetUp.open-files']],
    ['number', ['ChainHeat.drive', 'ChainBlocksyncWindow', 'ChainPeersFew.sessions', 'ChainHostSetUp.open-file-limit']],
  ])('in %s', (unit, alerts) => {
    for (const alert of alerts) {
      const row = rowOf(alert)
      expect(row && unitOf(row), alert).toBe(unit)
    }
  })
})

describe('the rules of an installation', () => {
  const tuning = {
    limits: {
      ChainClockDrift: { warning: 0.025, critical: 0.1 },
      ChainDiskFull: { limit: 0.07 },
      ChainBehind: { for: '2m' },
    },
    disable: ['ChainHostSetUp.smt', 'ChainWatchdog'],
    objective: 0.99,
  }
  const { alerts } = ruleSet(tuning)
  const levels = (address: string) =>
    alerts.flatMap(({ row, labels, expr, for: ms }) =>
      addressOf(row) === address ? [{ severity: labels['severity'], expr, ms }] : [],
    )

  test('have its limits at each severity', () => {
    expect(levels('ChainClockDrift').map(({ severity, expr }) => [severity, /> (.*)$/.exec(expr)?.[1]])).toEqual([
      ['critical', '0.1'],
      ['warning', '0.025'],
    ])
    expect(levels('ChainDiskFull')[0]?.expr).toMatch(/< 0\.07$/)
  })

  test('have its durations at each severity, and their texts say so', () => {
    expect(levels('ChainBehind').map(({ severity, ms }) => [severity, ms])).toEqual([
      ['critical', 120_000],
      ['warning', 120_000],
    ])
    const row = alertsOf(ruleFiles(tuning)).find(({ alert }) => alert === 'ChainBehind')
    expect(row?.comment).toMatch(
      /^Changed for this installation\. Default: limit 5, for 30s; critical limit 20, for 1m\. A healthy/,
    )
    const description = typeof row?.description === 'function' ? row.description(5) : ''
    expect(description).toMatch(/, more than 5 s\. .* This installation sets the duration to 2m\.$/)
  })

  test('lack all rows of a name that it disables', () => {
    const without = ruleSet({ ...DEFAULT_TUNING, disable: ['ChainHostSetUp'] }).alerts.map(({ alert }) => alert)
    expect(without).not.toContain('ChainHostSetUp')
    expect(without).toContain('ChainHeat')
  })

  test('lack those that it disables', () => {
    expect([...levels('ChainHostSetUp.smt'), ...levels('ChainWatchdog')]).toEqual([])
    const removed = ruleSet(DEFAULT_TUNING).alerts.length - alerts.length
    expect(removed).toBe(2)
  })

  // 1 % of a week: 15 times the rate is 15 % of an hour, 6 times 6 % of six hours, 3 times 3 % of a day.
  test('have the burn rates of its objective', () => {
    expect(levels('ChainUptimeBudget.fast')[0]?.expr).toMatch(/avg1h < 0\.85\n/)
    expect(levels('ChainUptimeBudget.fast')[1]?.expr).toMatch(/avg6h < 0\.94\n/)
    expect(levels('ChainUptimeBudget.slow')[0]?.expr).toMatch(/avg1d < 0\.97\n[^]*avg3d < 0\.99\n/)
  })

  test('are those that the agent evaluates', () => {
    const at = 1_750_000_000_000
    const samples = [{ name: 'chain_host_smt_active', labels: {}, value: 1 }]
    const found = (monitor: ReturnType<typeof createHealthMonitor>) => {
      monitor.evaluate(at, samples)
      return monitor.health().findings.some(({ alert }) => alert === 'ChainHostSetUp.smt')
    }
    expect(found(createHealthMonitor(at))).toBe(true)
    expect(found(createHealthMonitor(at, tuning))).toBe(false)
  })
})
