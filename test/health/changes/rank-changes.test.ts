import { expect, it } from 'vitest'
import { rankChanges } from '../../../src/health/changes/rank-changes.ts'
import { changeText } from '../../../src/health/changes/words.ts'

const BEGIN = Date.UTC(2026, 2, 1, 12)
/** The last value is of 12:05:00. */
const PAST = 16
const WINDOW = 4
const ALL = PAST + WINDOW

type Values = (index: number) => number

/** By the text of a series, its value at each time: 16 before the window and 4 in it, every 15 s. */
const rank = (series: Readonly<Record<string, Values>>) =>
  rankChanges({
    times: Array.from({ length: ALL }, (_, index) => BEGIN + index * 15_000),
    before: PAST,
    series: Object.entries(series).map(([text, valueAt]) => {
      const [name = '', labels = ''] = text.split(/[{}]/)
      return {
        name,
        labels: Object.fromEntries(
          [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, value]),
        ),
        values: Array.from({ length: ALL }, (_, index) => valueAt(index)),
      }
    }),
  })
const texts = (series: Readonly<Record<string, Values>>) => rank(series).map(changeText)

/** One value before the window, and another from the `start`-th time of the window on. */
const step =
  (from: number, to: number, start = 0): Values =>
  (index) =>
    index < PAST + start ? from : to
/** A wave of 10 %: what is usual. */
const noise =
  (level: number): Values =>
  (index) =>
    level * (1 + 0.1 * Math.sin(index * 2.4))

it('puts what changed earlier before what changed later, and leaves out what did not change', () => {
  expect(
    texts({
      chain_a: step(1, 0, 2),
      chain_b: step(350, 2, 1),
      chain_c: noise(1000),
      chain_d: step(7, 7),
    }),
  ).toEqual(['chain_b: 350 → 2 (0.00571×), since 12:04:15 UTC', 'chain_a: 1 → 0, since 12:04:30 UTC'])
})

it('measures a difference by what is usual: 40 % more of a noisy value is less than of a steady one', () => {
  const [first, second] = rank({ chain_a: (index) => noise(100)(index) * step(1, 1.4)(index), chain_b: step(100, 140) })
  expect([first?.family, first?.score]).toEqual(['chain_b', expect.closeTo(1, 2)])
  expect(second?.score ?? 0).toBeLessThan(0.7)
})

it('a counter that begins again at the same rate has not changed', () => {
  expect(
    texts({
      chain_a_total: (index) => (index < PAST + 2 ? 5000 : 0) + 150 * (index - (index < PAST + 2 ? 0 : PAST + 1)),
    }),
  ).toEqual([])
})

it('does not count what also happened before', () => {
  const flapping: Values = (index) => Number(index % 3 === 0)
  expect(texts({ chain_a: flapping })).toEqual([])
})

it('compares the value of what rises and falls', () => {
  const sessions: Values = (index) => (index < PAST ? 26 + (index % 5) : 2)
  expect(texts({ chain_sessions: sessions })).toEqual(['chain_sessions: 28 → 2 (0.0714×), since 12:04:00 UTC'])
})

it('reports that what only grew fell', () => {
  const growing: Values = (index) => (index < PAST ? 20 + index / 2 : 2)
  expect(texts({ chain_sessions: growing })).toEqual(['chain_sessions: 23.8 → 2 (0.0842×), since 12:04:00 UTC'])
})

it('reports when a difference was over', () => {
  const [change] = texts({ chain_a: (index) => Number(index === PAST + 1) })
  expect(change).toBe('chain_a: 0 → 1, from 12:04:15 UTC to 12:04:30 UTC')
})

it('compares the rate of a counter, also after it began again', () => {
  // 15 more in 15 s, from the window on 60, and from 0 at the second time of it.
  const total: Values = (index) => (index < PAST ? 1000 + index * 15 : index === PAST ? 1285 : (index - PAST) * 60)
  expect(texts({ chain_a_total: total })).toEqual(['chain_a_total: rate 1/s → 4/s (4×), since 12:04:00 UTC'])
})

it('compares the value of a counter that was constant: one event counts half as much as a state', () => {
  const [a, b] = rank({ chain_a_total: step(2, 3), chain_b: step(2, 3) })
  expect([a?.family, a?.score]).toEqual(['chain_b', expect.closeTo(1, 2)])
  expect([b?.family, b?.score, b && changeText(b)]).toEqual([
    'chain_a_total',
    expect.closeTo(0.5, 2),
    'chain_a_total: 2 → 3, since 12:04:00 UTC',
  ])
})

it('compares the rate of a height, and names those that stop together in one row', () => {
  const stops: Values = (index) => 40 * Math.min(index, PAST)
  const grows: Values = (index) => 40 * index
  expect(texts({ chain_a_number: stops, chain_b_number: stops, chain_c_number: grows })).toEqual([
    'chain_a_number: rate 2.67/s → 0/s, since 12:04:15 UTC; also chain_b_number',
  ])
})

it('compares the age of a timestamp that advances, and reports one that moves back', () => {
  const at = (index: number): number => BEGIN / 1000 + index * 15
  expect(
    texts({
      chain_a_timestamp_seconds: (index) => at(index) - 1,
      chain_b_timestamp_seconds: (index) => at(Math.min(index, PAST)) - 1,
      chain_c_timestamp_seconds: step(at(0), at(0) - 2400),
      // Each hour.
      chain_d_timestamp_seconds: step(at(0) - 3600, at(0)),
      // It restarted after a day.
      chain_e_timestamp_seconds: step(at(0) - 86_400, at(PAST)),
    }),
  ).toEqual([
    'chain_c_timestamp_seconds: 2026-03-01T12:00:00Z → 2026-03-01T11:20:00Z, since 12:04:00 UTC',
    'chain_e_timestamp_seconds: 2026-02-28T12:00:00Z → 2026-03-01T12:04:00Z, since 12:04:00 UTC',
    'chain_b_timestamp_seconds: age 1 s → 31 s (31×), since 12:04:15 UTC',
  ])
})

it('compares the mean of a histogram', () => {
  // 30 observations in 15 s, of 0.12 s and then of 0.94 s.
  const sum: Values = (index) => 30 * (0.12 * Math.min(index, PAST - 1) + 0.94 * Math.max(0, index - PAST + 1))
  expect(texts({ 'chain_a_seconds_sum{b="c"}': sum, 'chain_a_seconds_count{b="c"}': (index) => index * 30 })).toEqual([
    'chain_a_seconds{b="c"}: mean 0.12 s → 0.94 s (7.83×), since 12:04:00 UTC',
  ])
})

it('reports the absence of all metrics of a source in one row, and a value that appears', () => {
  const present = step(1, NaN)
  expect(texts({ chain_rpc_a: present, chain_rpc_b: present, chain_x: step(NaN, 5, 1) })).toEqual([
    'chain_rpc_a: absent, was 1, since 12:04:00 UTC; also chain_rpc_b',
    'chain_x: appeared, 5, since 12:04:15 UTC',
  ])
})

it('reports what changed of one subject at the same time in one row', () => {
  expect(
    texts({
      'chain_service_active{service="rpc"}': step(1, 0),
      'chain_service_state{service="rpc",state="failed"}': step(0, 1),
      'chain_service_tasks{service="rpc"}': step(68, NaN),
      'chain_service_active{service="bft"}': step(1, 1),
      'chain_log_lines{service="rpc"}': step(4, 8),
      'chain_service_starts{service="rpc"}': step(4, 8, 1),
    }),
  ).toEqual([
    'chain_service_active{service="rpc"}: 1 → 0, since 12:04:00 UTC; also chain_service_state and chain_service_tasks',
    'chain_log_lines{service="rpc"}: 4 → 8 (2×), since 12:04:00 UTC',
    'chain_service_starts{service="rpc"}: 4 → 8 (2×), since 12:04:15 UTC',
  ])
})

it('does not take the start of the agent for absence', () => {
  expect(texts({ chain_a: (index) => (index < 9 ? NaN : 1) })).toEqual([])
})

it('reports what replaced a state, or the labels of an info metric', () => {
  expect(
    texts({
      'chain_state{key="secp",state="ok"}': step(1, 0),
      'chain_state{key="secp",state="missing"}': step(0, 1),
      'chain_info{version="0.16.1"}': step(1, NaN),
      'chain_info{version="0.17.0"}': step(NaN, 1),
    }),
  ).toEqual([
    'chain_state{key="secp"}: state ok → missing, since 12:04:00 UTC',
    'chain_info: version 0.16.1 → 0.17.0, since 12:04:00 UTC',
  ])
})

it('ranks the process of the agent and the health after the node, and marks the metrics of the agent', () => {
  expect(
    texts({
      chain_agent_collector_up: step(1, 0, 1),
      'chain_node_health{state="warning"}': step(0, 1),
      process_open_fds: step(20, 4000),
      chain_z: step(1, 0, 3),
    }),
  ).toEqual([
    'chain_agent_collector_up: 1 → 0, since 12:04:15 UTC (of the agent)',
    'chain_z: 1 → 0, since 12:04:45 UTC',
    'chain_node_health{state="warning"}: 0 → 1, since 12:04:00 UTC (of the agent)',
    'process_open_fds: 20 → 4,000 (200×), since 12:04:00 UTC (of the agent)',
  ])
})
