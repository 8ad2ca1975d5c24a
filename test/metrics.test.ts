import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { chapters, metrics } from '../src/metrics.ts'
import { sample, sampleIfKnown } from '../src/core/metric.ts'

describe.each(Object.entries(metrics))('%s', (name, { type, help, labels }) => {
  test('is named the way Prometheus asks', () => {
    expect(name).toMatch(/^chain_[a-z0-9_]+$/)
    expect(name.endsWith('_total')).toBe(type === 'counter' || type === 'external counter')
    expect(name).not.toMatch(/_(ms|millis|milliseconds|minutes|kb|mb|gb|percent|count)(_total)?$/)
    if (type === 'histogram') expect(name).toMatch(/_seconds$/)
    // The unit is last, and a time is an age only in the text that shows it: a metric is a timestamp or a duration.
    expect(name).not.toMatch(/_(seconds|bytes|ratio|celsius|tokens)_(?!total$)|_(since|until|previous)_/)
  })
  test('says what it is in one sentence', () => {
    expect(help).toMatch(/^[A-Z][^.]*\.$/)
  })
  test('says it without the metric next to it', () => {
    expect(help).not.toMatch(
      /\b(the same|that (boundary )?block|as reported|in the window|the stream|reported elsewhere|above|below)\b(?! (the|which|it\b|80))/i,
    )
    // A duration that was computed over a window, and every histogram, has its unit in the text.
    if (type === 'histogram' || /_eta_seconds$|_latency_seconds$|_delay_seconds$/.test(name))
      expect(help).toMatch(/second/)
    if (name.startsWith('chain_duty_') && name !== 'chain_duty_identity_active') expect(help).toContain('six hours')
    if (/^chain_slo_(uptime|known|budget_remaining)_/.test(name)) expect(help).toContain('seven days')
  })
  test('has no label whose values overlap: a sum over it counts nothing twice', () => {
    for (const values of Object.values(labels ?? {})) {
      if (typeof values === 'string') continue
      expect(values).not.toContain('total')
      // A ratio is compared, not added.
      if (!name.endsWith('_ratio')) expect(values).not.toContain('own')
      // The second of each pair is contained in the first.
      for (const [all, part] of [
        ['all', 'own'],
        ['some', 'full'],
        ['epoch', 'hour'],
      ] as const)
        expect(values.includes(all) && values.includes(part), `${all}, ${part}`).toBe(false)
      for (const value of values) expect(value).not.toMatch(/^p\d+$/)
    }
  })
  test('has no label that would grow without bound, or that belongs to Prometheus', () => {
    for (const [label, values] of Object.entries(labels ?? {})) {
      // `le` is of histograms, `quantile` of summaries: promtool rejects them elsewhere.
      expect(label).not.toMatch(/^(?:instance|job|le|quantile)$|^__/)
      // Where the values are known beforehand, it cannot grow.
      if (typeof values !== 'string') continue
      expect(label).not.toMatch(/hash|height|error|message|timestamp|path/)
    }
  })
})

test('no two metrics have the same text', () => {
  const names = new Map<string, string>()
  for (const [name, { help }] of Object.entries(metrics)) {
    expect(names.get(help), name).toBeUndefined()
    names.set(help, name)
  }
})

test('histograms have at most 12 buckets, rising', () => {
  for (const { buckets } of Object.values(metrics)) {
    if (!buckets) continue
    expect(buckets.length).toBeLessThanOrEqual(12)
    expect(buckets).toEqual(buckets.toSorted((a, b) => a - b))
  }
})

test('a sample is a number, or it is refused', () => {
  expect(sample('chain_block_difference', -3n)).toEqual({ name: 'chain_block_difference', value: -3, labels: {} })
  expect(() => sample('chain_block_difference', Number.NaN)).toThrow(RangeError)
  expect(sampleIfKnown('chain_block_difference', null)).toEqual([])
  expect(sampleIfKnown('chain_block_difference', 0)).toHaveLength(1)
})

test('types: the catalogue decides the labels and their values', () => {
  // @ts-expect-error a label is missing
  sample('chain_service_active', 1)
  // @ts-expect-error no such label
  sample('chain_service_active', 1, { unit: 'x' })
  // @ts-expect-error this metric has no labels
  sample('chain_rpc_up', 1, { tag: 'latest' })
  // @ts-expect-error no such value of the label
  sample('chain_rpc_block_number', 1, { tag: 'newest' })
  // @ts-expect-error no such metric
  sample('chain_rpc_blok_number', 1)
  // @ts-expect-error a counter of the agent is recorded, not read
  sample('chain_rpc_errors_total', 1, { method: 'eth_chainId', reason: 'http' })
  expect(sample('chain_rpc_block_number', 1, { tag: 'latest' }).value).toBe(1)
})

test('docs/reference/metrics.md has every metric once, and an introduction for every chapter', () => {
  const page = readFileSync('docs/reference/metrics.md', 'utf8')
  for (const name of Object.keys(metrics)) {
    expect(page.split(`| \`${name}\` |`), name).toHaveLength(2)
  }
  for (const chapter of Object.keys(chapters))
    expect(page).toMatch(new RegExp(`## ${chapter}\n\n(?:[A-Z]|systemd).+\\.\n`))
})
