import { expect, test } from 'vitest'
import { createSampleIndex, type Sample, sample } from '../../../src/core/metric.ts'
import { createHistory } from '../../../src/exporter/page/figures.ts'
import { createOverview } from '../../../src/exporter/page/overview.ts'
import { renderParts } from '../../../src/exporter/page/status.ts'
import { SECTIONS } from '../../../src/health/sections/sections.ts'
import { findingOf, overviewInput, statusPageOf } from '../../support/agent-view.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { HEALTHY } from '../../support/snapshot.ts'

const NOON = Date.UTC(2026, 2, 1, 12)
const partOf = (input: ReturnType<typeof overviewInput>, id: string): string =>
  renderParts(createOverview(input)).get(id)?.toString() ?? ''

test('an unknown figure has its reason, one beyond its limit a word in addition to the colour', () => {
  const known = createSampleIndex([
    sample('chain_block_difference', 100),
    sample('chain_blocks_per_second', 2),
    sample('chain_blocksync_window_remaining_blocks', 420),
  ])
  const error = { message: 'Could not read: it hangs', code: null, advice: null }
  const collectors = [
    { name: 'execution', help: '', enabled: true, up: false, lastSuccessAt: null, error, hasReading: false },
    { name: 'storage', help: '', enabled: false, up: null, lastSuccessAt: null, error: null, hasReading: false },
  ]
  const { figures } = createOverview(overviewInput({ known, collectors })).document
  const byName = Object.fromEntries(figures.map((figure) => [figure.name, figure]))
  // 100 blocks at 2 a second are 50 s.
  expect(byName['difference']).toMatchObject({
    value: '100 blocks',
    tone: 'bad',
    limit: 'warning above 5 s of blocks, critical above 20 s of blocks',
  })
  expect(byName['window']).toMatchObject({ value: '420 blocks, 3 min 30 s', tone: 'notice' })
  expect(byName['database']).toMatchObject({
    value: null,
    tone: 'unknown',
    unknownBecause: 'execution: Could not read: it hangs; storage: disabled in the configuration, or nothing to read',
  })
  // Without a service of the node it is not known that none is down.
  expect(byName['services']).toMatchObject({
    value: null,
    tone: 'unknown',
    unknownBecause: 'services: the agent has no such collector',
  })
  const html = partOf(overviewInput({ known, collectors }), 'figures')
  expect(html).toContain('<span class="hidden">problem: </span>100 blocks')
  expect(html).toContain('<span class="value">unknown</span>')
})

test('during a stall the rate has its age, and the window its time', () => {
  const figuresOf = (samples: readonly Sample[], at: number) => {
    const { figures } = createOverview(overviewInput({ known: createSampleIndex(samples), at })).document
    return Object.fromEntries(figures.map(({ name, value, unknownBecause }) => [name, value ?? unknownBecause]))
  }
  const block = [
    sample('chain_rpc_block_number', 1000, { tag: 'latest' }),
    sample('chain_rpc_block_timestamp_seconds', 1_000_000, { tag: 'latest' }),
  ]
  const rate = sample('chain_blocks_per_second', 2.664)
  expect(figuresOf([...block, rate], 1_000_010_000)).toMatchObject({ rate: '2.66' })
  expect(figuresOf([...block, rate], 1_000_150_000)).toMatchObject({ rate: '2.66, measured 2 min ago' })
  const window = sample('chain_blocksync_window_remaining_blocks', 450)
  // 450 blocks at three a second.
  expect(figuresOf([...block, window], 1_000_150_000)).toMatchObject({
    rate: 'not measured: it needs blocks of 20 s, and the newest is 2 min old',
    window: '450 blocks, 2 min 30 s, at an assumed 3 blocks a second',
  })
})

test('the last hour is kept, and no more; unknown values interrupt the line', () => {
  const history = createHistory()
  const record = (rate: number | undefined) => {
    history.record({
      at: NOON,
      known: createSampleIndex(rate === undefined ? [] : [sample('chain_blocks_per_second', rate)]),
    })
  }
  for (let minute = 0; minute < 100; minute += 1) record(9)
  for (let each = 0; each < 236; each += 1) record(3)
  for (const rate of [undefined, 1, 2, 3]) record(rate)
  expect(history.of('rate').length).toBe(240)
  expect(history.of('rate').slice(-5)).toEqual([3, null, 1, 2, 3])
  const html = partOf(overviewInput({}, { history }), 'figures')
  expect(html).toContain('aria-label="Blocks per second of the network in the last hour: 1 to 3"')
  // 236 values of 3 at the top, a gap, then from the bottom to the top.
  expect(html).toContain('L235 1M237 31h1L238 16L239 1"')
})

test('a document is at most a second old, and not rendered again before', async () => {
  const clock = manualClock(NOON)
  let reads = 0
  const page = statusPageOf({
    clock,
    read: () => {
      reads += 1
      return Promise.resolve(overviewInput())
    },
  })
  const bodies = await Promise.all(Array.from({ length: 100 }, async () => page.document()))
  expect(new Set(bodies).size).toBe(1)
  await clock.advance(999)
  await page.document()
  expect(reads).toBe(1)
  await clock.advance(1)
  await page.document()
  expect(reads).toBe(2)
})

test('a full stop is at its command, before the button', () => {
  const finding = findingOf({ advice: ['Run `chain-agent logs`, then `chain-agent check`.'] })
  const input = overviewInput({ health: { ...HEALTHY, state: 'critical', findings: [finding] } })
  const found = partOf(input, 'findings').replaceAll(/<button[^]*?<\/button>/g, '[Copy]')
  expect(found).toContain('Run <code>chain-agent logs</code>,[Copy] then <code>chain-agent check</code>.[Copy]</li>')
})

test('every section has a title', () => {
  const parts = [...renderParts(createOverview(overviewInput()))].filter(([id]) => id.startsWith('section-'))
  expect(parts.length).toBe(SECTIONS.length)
  expect(parts.filter(([, part]) => !/^<h2>[A-Z]/.test(part.toString())).map(([id]) => id)).toEqual([])
})

test('the name of the host is first in the title and on the page; first readings are no events', async () => {
  const event = { id: 1, at: NOON, collector: 'rpc', subject: 'node RPC', severity: 'info' } as const
  const events = [
    { ...event, from: null, to: 'known' },
    { ...event, from: 'known', to: 'refused' },
    { ...event, collector: 'agent', from: null, to: 'started' },
  ]
  const input = overviewInput({}, { hostName: 'validator-7', events })
  const overview = createOverview(input)
  const { plain } = await statusPageOf({ read: () => Promise.resolve(input) }).document()
  expect(plain.toString()).toContain('<title>validator-7 · OK · chain-agent</title>')
  expect(partOf(input, 'state')).toMatch(/^<p class="node">validator-7<\/p>/)
  expect(overview.events.map(({ to }) => to)).toEqual(['started', 'refused'])
})
