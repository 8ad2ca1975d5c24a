import { beforeAll, describe, expect, it } from 'vitest'
import type { MetricDefinition } from '../../src/core/metric.ts'
import { metrics } from '../../src/metrics.ts'
import { HEALTHY, history, INSTANCES, JOB, STEP } from './history.ts'

const NOW = Date.UTC(2026, 10, 21, 12) / 1000
const HOUR = 3600

interface Series {
  readonly metric: string
  readonly labels: Readonly<Record<string, string>>
  /** Parsed on demand: there are millions. */
  points(): readonly (readonly [at: number, value: number])[]
}

const read = (chunk: string): Series => {
  const first = chunk.slice(0, chunk.indexOf('\n'))
  const [, metric = '', inner = ''] = /^(\w+)\{(.*)\} \S+ \S+$/.exec(first) ?? []
  const labels = Object.fromEntries(
    [...inner.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', value = '']) => [label, value]),
  )
  const points = () =>
    [...chunk.matchAll(/ (\S+) (\d+)\n/g)].map(([, value, at]) => [Number(at), Number(value)] as const)
  return { metric, labels, points }
}

let all: readonly Series[]
beforeAll(() => {
  all = [...history({ now: NOW, days: 2 })].slice(0, -1).map(read)
})

const base = (metric: string): string => (metric in metrics ? metric : metric.replace(/_(?:bucket|sum|count)$/, ''))
/** The last piece: the days before are a piece of their own, which comes first. */
const find = (metric: string, labels: Readonly<Record<string, string>>): Series | undefined =>
  all.findLast(
    (one) => one.metric === metric && Object.entries(labels).every(([label, value]) => one.labels[label] === value),
  )
const at = (series: Series | undefined, moment: number): number | undefined =>
  series?.points().findLast(([when]) => when <= moment && moment - when < 90)?.[1]

describe('the history', () => {
  it('is complete OpenMetrics, and deterministic', () => {
    const text = [...history({ now: NOW, hours: 0.1, aheadHours: 0, days: 0 })]
    expect(text.at(-1)).toBe('# EOF\n')
    expect([...history({ now: NOW, hours: 0.1, aheadHours: 0, days: 0 })]).toEqual(text)
  })

  it('every metric of the catalogue has series with exactly its labels and allowed values', () => {
    const seen = new Set(all.map(({ metric }) => base(metric)))
    expect(Object.keys(metrics).filter((name) => !seen.has(name))).toEqual([])
    const definitions: ReadonlyMap<string, MetricDefinition> = new Map(Object.entries(metrics))
    for (const { metric, labels } of all) {
      const definition = definitions.get(base(metric))
      if (!definition) continue
      const { job, instance, cluster, le, ...own } = labels
      expect([job, cluster]).toEqual([JOB, 'mainnet'])
      expect(INSTANCES).toContain(instance)
      expect(Object.keys(own).toSorted(), metric).toEqual(Object.keys(definition.labels ?? {}).toSorted())
      expect(le !== undefined, metric).toBe(metric.endsWith('_bucket'))
      for (const [label, value] of Object.entries(own)) {
        const values = definition.labels?.[label]
        if (typeof values === 'object') expect(values, `${metric}{${label}}`).toContain(value)
      }
    }
  })

  it('counters only increase, except for resets at the upgrade', () => {
    const falls = all.flatMap(({ metric, labels, points }) => {
      const isCounter = metric in metrics ? metric.endsWith('_total') : metric !== 'up' && base(metric) in metrics
      if (!isCounter || labels['instance'] !== HEALTHY) return []
      const course = points()
      return course.flatMap(([when, value], index) => (value < (course[index - 1]?.[1] ?? 0) ? [when] : []))
    })
    expect(falls.length).toBeGreaterThan(100)
    // Three hours ago; consensus starts again some seconds later.
    for (const when of falls) {
      expect(when).toBeGreaterThanOrEqual(NOW - 3 * HOUR)
      expect(when).toBeLessThanOrEqual(NOW - 3 * HOUR + 2 * STEP)
    }
  })

  it('ends half an hour after now, and begins as early as requested', () => {
    const up = find('up', { instance: HEALTHY })
    expect(up?.points().at(-1)?.[0]).toBe(NOW + HOUR / 2)
    expect(up?.points()[0]?.[0]).toBe(NOW - 6 * HOUR)
    const old = all.find(({ metric }) => metric === 'chain_ledger_block_timestamp_seconds')
    expect(old?.points()[0]?.[0]).toBe(NOW - 48 * HOUR)
  })

  it('has the events of each node', () => {
    const value = (metric: string, labels: Readonly<Record<string, string>>, moment = NOW) =>
      at(find(metric, labels), moment)
    const healthy = { instance: HEALTHY }
    expect(value('chain_block_difference', healthy)).toBe(0)
    expect(value('chain_service_active', { ...healthy, service: 'bft' })).toBe(1)
    // During the upgrade.
    expect(value('chain_service_active', { ...healthy, service: 'bft' }, NOW - 3 * HOUR)).toBe(0)
    expect(value('chain_agent_maintenance', { ...healthy, reason: 'upgrade' }, NOW - 3 * HOUR)).toBe(1)
    expect(value('chain_node_running_info', { ...healthy, source: 'native', version: '0.16.1' })).toBe(1)
    expect(value('chain_agent_maintenance', { ...healthy, reason: 'upgrade' })).toBe(0)
    // A stall of 108 seconds, of which the last sample sees 90, at 2.5 blocks a second; then it catches up.
    expect(value('chain_block_difference', healthy, NOW - 1.575 * HOUR)).toBeGreaterThan(200)
    expect(value('chain_block_difference', healthy, NOW - 1.5 * HOUR)).toBe(0)
    expect(value('chain_duty_slots', { instance: 'validator-2', result: 'timeout' })).toBeGreaterThan(500)
    expect(value('chain_storage_used_ratio', { instance: 'fullnode-1' })).toBe(0.87)
    expect(value('chain_native_statesync_active', { instance: 'fullnode-2' })).toBe(1)
    expect(value('chain_rpc_up', { instance: 'fullnode-2' })).toBe(0)
    expect(value('up', { instance: 'fullnode-3' })).toBe(0)
    expect(value('chain_rpc_up', { instance: 'fullnode-3' })).toBeUndefined()
    // 61 samples of 30 seconds each, at 2.5 blocks a second.
    expect(value('chain_block_difference', { instance: 'fullnode-4' })).toBe(4575)
    expect(value('chain_service_state', { instance: 'fullnode-4', service: 'bft', state: 'failed' })).toBe(1)
  })
})
