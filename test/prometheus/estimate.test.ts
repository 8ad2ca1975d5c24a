import { beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { cli } from '../support/cli.ts'
import { requirePrometheus, startPrometheusWithHistory } from '../support/prometheus.ts'
import type { Running } from '../support/programs.ts'
import { shipped } from '../support/shipped.ts'

const describe = await requirePrometheus()

/** Seconds since the epoch. */
const END = Date.UTC(2026, 10, 1) / 1000
const [MINUTE, HOUR, DAY] = [60, 3600, 86_400]
const START = END - 30 * DAY
/** The last evaluation of the first query of 10,000 evaluations every 15 s: the first one is 15 s after the start. */
const BORDER = START + 10_000 * 15

/** A value from a time on. */
type Change = readonly [at: number, value: number]

/** A series that has `value` outside of some periods: a sample every 4 min, since Prometheus looks back 5, and at each change. */
const series = (
  labels: string,
  value: number,
  periods: readonly (readonly [from: number, until: number, value: number])[] = [],
): string => {
  const changes: readonly Change[] = [
    [START - HOUR, value],
    ...periods.flatMap(([from, until, other]): readonly Change[] => [
      [from, other],
      [until, value],
    ]),
  ]
  return changes
    .flatMap(([at, current], index) => {
      const until = changes[index + 1]?.[0] ?? END + 1
      return Array.from(
        { length: Math.ceil((until - at) / (4 * MINUTE)) },
        (_, number) => `${labels} ${current} ${at + number * 4 * MINUTE}\n`,
      )
    })
    .join('')
}

const node = (metric: string, instance: string, more = ''): string =>
  `${metric}{job="chain-agent",cluster="main",instance="${instance}"${more}}`

const OFFSET = 'chain_host_clock_offset_seconds'
const DOWN = START + 5 * DAY
const DOWN_TWICE = START + 6 * DAY
const CRUFT_DOWN = START + 15 * DAY
/** Between two evaluations of a group that is evaluated every 15 s. */
const BFT_DOWN = START + 16 * DAY + 5
const BEHIND = START + 20 * DAY
const STALLED = START + 22 * DAY

const HISTORY = [
  series(node(OFFSET, 'a'), 0, [
    // The condition holds at 41 evaluations, from 0 to 600 s: for 10 min exactly.
    [START + DAY, START + DAY + 10 * MINUTE + 15, 0.3],
    // At 121 evaluations around the border of two queries.
    [BORDER - 15 * MINUTE, BORDER + 15 * MINUTE, 0.3],
    // At 40 evaluations, from 0 to 585 s: one too few.
    [START + 2 * DAY, START + 2 * DAY + 10 * MINUTE, 0.3],
  ]),
  series(node(OFFSET, 'b'), 0, [[START + 10 * DAY, START + 10 * DAY + HOUR, 0.3]]),
  // Up again for less than keep_firing_for of ChainAgentDown, and for more.
  series(node('up', 'a'), 1, [
    [DOWN, DOWN + 180, 0],
    [DOWN + 240, DOWN + 300, 0],
  ]),
  series(node('up', 'b'), 1, [
    [DOWN_TWICE, DOWN_TWICE + 180, 0],
    [DOWN_TWICE + 315, DOWN_TWICE + 495, 0],
  ]),
  series(node('chain_agent_build_info', 'a', ',profile="watcher"'), 1),
  ...['bft', 'cruft'].map((service) => series(node('chain_service_expected', 'a', `,service="${service}"`), 1)),
  series(node('chain_service_active', 'a', ',service="cruft"'), 1, [[CRUFT_DOWN, CRUFT_DOWN + 10 * MINUTE, 0]]),
  series(node('chain_service_active', 'a', ',service="bft"'), 1, [[BFT_DOWN, BFT_DOWN + 20 * MINUTE, 0]]),
  series(node('chain_blocksync_window_remaining_blocks', 'a'), 1000, [[BEHIND, BEHIND + 10 * MINUTE, 100]]),
  series(node('chain_native_statesync_active', 'a'), 0, [[BEHIND, BEHIND + 5 * MINUTE, 1]]),
  // A recorded series that exists: the metrics of its expression do not.
  series(node('instance:chain_block_age:seconds', 'a'), 0, [[STALLED, STALLED + 5 * MINUTE, 40]]),
  // Prometheus cannot divide two series by one.
  ...['x', 'y'].map((extra) => series(node('chain_block_difference', 'a', `,extra="${extra}"`), 100)),
  '# EOF\n',
].join('')

const resultSchema = z.object({
  from: z.string(),
  to: z.string(),
  rules: z.array(z.looseObject({ address: z.string(), severity: z.string(), state: z.string() })),
  computedRecordings: z.array(z.string()),
})

/** The result of a rule that fires, with times in seconds. */
const fired = (
  address: string,
  severity: string,
  [firings, firingSeconds, nodes, last]: readonly [number, number, number, number],
) => ({
  address,
  severity,
  state: 'fired',
  firings,
  nodes,
  firingSeconds,
  last: new Date(last * 1000).toISOString().replace('.000Z', 'Z'),
})

describe('chain-agent rules --estimate', () => {
  let prometheus: Running & { readonly url: string }
  let whole: z.output<typeof resultSchema>
  beforeAll(async () => {
    prometheus = await startPrometheusWithHistory(HISTORY)
    whole = await estimate()
    return prometheus.stop
  })

  /** At 7 s after the end: the last evaluation is at the end. */
  const clock = { ...shipped.systemClock, now: () => END * 1000 + 7000 }
  const estimate = async (...options: readonly string[]) => {
    const { code, out, err } = await cli(['rules', '--estimate', prometheus.url, '--json', ...options], { clock })
    expect({ code, err }).toEqual({ code: 0, err: '' })
    return resultSchema.parse(JSON.parse(out))
  }

  it('counts as Prometheus does, loudest first', () => {
    const { from, to, rules } = whole
    expect({ from, to }).toEqual({ from: '2026-10-02T00:00:07Z', to: '2026-11-01T00:00:07Z' })
    expect(rules.filter(({ state }) => state === 'fired')).toEqual([
      // Of node a 15 s (for 10 min exactly) and 1,200 s (over the border of two queries: the second part alone would fire,
      // too), of node b an hour without the first 10 min.
      fired('ChainClockDrift', 'warning', [3, 15 + 1200 + 3000, 2, START + 10 * DAY + 10 * MINUTE]),
      // For 2 min. Node a: one, kept over the 60 s without the condition, until 120 s after 300 s. Node b: up again for
      // 135 s, so that the first ends at 300 s, and a second one fires from 435 s to 615 s.
      fired('ChainAgentDown', 'critical', [3, 300 + 180 + 180, 2, DOWN_TWICE + 435]),
      // The reading `limits` is unknown while bft runs, for 30 min: one of seven rows of a recording, by its label. The
      // evaluations every 15 s see the ends of the 20 min 10 s later.
      fired('ChainBlind.host', 'warning', [
        2,
        BFT_DOWN + 10 - (START + 15 + 30 * MINUTE) + (END - (BFT_DOWN + 10 + 50 * MINUTE)),
        1,
        BFT_DOWN + 10 + 50 * MINUTE,
      ]),
      // At each evaluation.
      fired('ChainWatchdog', 'none', [1, 30 * DAY - 15, 0, START + 15]),
      // Evaluated every 5 s: after 45 s, until 3 min after 20 min.
      fired('ChainServiceDown', 'critical', [1, 23 * MINUTE - 45, 1, BFT_DOWN + 45]),
      // A recording with a matcher, which does not select bft: after 5 min, until 3 min after 10 min.
      fired('ChainServiceDown', 'warning', [1, 8 * MINUTE, 1, CRUFT_DOWN + 5 * MINUTE]),
      // From 30 s to 3 min after 5 min.
      ...['critical', 'warning'].map((severity) =>
        fired('ChainBlockStalled', severity, [1, 8 * MINUTE - 30, 1, STALLED + 30]),
      ),
      // A recording with a range of 2 min: the statesync is last active at 285 s, and no longer in the range at 405 s. From
      // 420 s to 3 min after 10 min.
      ...['critical', 'warning'].map((severity) =>
        fired('ChainBlocksyncWindow', severity, [1, 13 * MINUTE - 420, 1, BEHIND + 420]),
      ),
      // From 30 s to 5 min.
      fired('ChainStatesync', 'info', [1, 270, 1, BEHIND + 30]),
    ])
  })

  it('lists rules that cannot be estimated with the reason', () => {
    const { rules, computedRecordings } = whole
    const of = (address: string) => rules.filter((rule) => rule.address === address)
    expect(of('ChainServiceDown.failed')).toMatchObject([{ state: 'no data', metrics: ['chain_service_state'] }])
    expect(of('ChainUptimeBudget.slow')).toMatchObject([
      { state: 'needs recording rules', records: ['instance:chain_available:avg1d', 'instance:chain_available:avg3d'] },
    ])
    const error = 'multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)'
    expect(of('ChainBehind')).toMatchObject([
      { state: 'failed', error },
      { state: 'failed', error },
    ])
    // Nothing is missing, and the condition never holds.
    expect(of('ChainUptimeBudget.fast')).toMatchObject([{ state: 'silent' }, { state: 'silent' }])
    expect(computedRecordings).toContain('instance_service:chain_service:down')
    expect(computedRecordings).not.toContain('instance:chain_block_age:seconds')
  })

  it('has the limits of --set, and the rules without those of --disable', async () => {
    const sets = ['ChainClockDrift.critical=290ms', 'ChainAgentDown.for=4m'].flatMap((text) => ['--set', text])
    const { rules } = await estimate(...sets, '--disable', 'ChainBlind')
    // For 2 min: until 615 s, 600 s, 30 min and an hour.
    expect(rules[0]).toEqual(
      fired('ChainClockDrift', 'critical', [
        4,
        615 + 600 + 30 * MINUTE + HOUR - 4 * 2 * MINUTE,
        2,
        START + 10 * DAY + 2 * MINUTE,
      ]),
    )
    // Down for 3 min at most.
    const agentDown = { address: 'ChainAgentDown', severity: 'critical', state: 'silent' }
    expect(rules.filter(({ address }) => address === 'ChainAgentDown')).toEqual([agentDown])
    expect(rules.filter(({ address }) => address.startsWith('ChainBlind'))).toEqual([])
  })

  it('has the days of --days as a table', async () => {
    const argv = ['rules', '--estimate', prometheus.url, '--days', '9', '--disable', 'ChainBlind', '--no-color']
    const { code, out, err } = await cli(argv, { clock })
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out.split('\n').slice(0, 6)).toEqual([
      'ESTIMATE: firings from 2026-10-23T00:00:07Z to 2026-11-01T00:00:07Z, 9 d',
      '',
      'firings  severity  rule               firing      nodes  last (UTC)',
      '      1  none      ChainWatchdog      8 d 23 h        -  2026-10-23T00:00:15Z',
      '      1  critical  ChainBlockStalled  7 min 30 s      1  2026-10-24T00:00:30Z',
      '      1  warning   ChainBlockStalled  7 min 30 s      1  2026-10-24T00:00:30Z',
    ])
  })
})
