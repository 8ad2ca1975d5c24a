import { expect, it } from 'vitest'
import { renderServicePage } from '../../../query/commands/serve-query/page.ts'
import type { ExposedValue } from '../../../src/exporter/exposition.ts'

const NOW = Date.parse('2026-01-01T00:10:00Z')
const GiB = 1024 ** 3

const value = (name: string, number: number, labels: Readonly<Record<string, string>> = {}): ExposedValue => ({
  name: name === 'process_start_time_seconds' ? name : `chain_query_service_${name}`,
  labels,
  value: number,
})

/** The text of a section, without markup. */
const textOf = (document: string, id: string): string =>
  (new RegExp(`<section id="${id}">(.*?)</section>`, 's').exec(document)?.[1] ?? '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()

it('a backfill shows its progress, its estimated end, requests and the store', () => {
  const document = renderServicePage({
    version: '1.2.3',
    now: NOW,
    waitingFor: ['15000 more blocks of the node'],
    backfillEndsAt: NOW + 40 * 60_000,
    values: [
      value('phase', 0, { phase: 'tail' }),
      value('phase', 1, { phase: 'backfill' }),
      value('first_block', 1000),
      // 5,000 of 20,000 blocks.
      value('height', 5999),
      value('node_height', 20_999),
      value('indexed_block_timestamp_seconds', NOW / 1000 - 90),
      value('store_bytes', 3 * GiB),
      value('store_limit_bytes', 4 * GiB),
      value('store_logs', 1_234_567),
      value('requests_total', 7, { path: '/query', code: '503' }),
      value('requests_total', 4321, { path: '/query', code: '200' }),
      value('requests_total', 0, { path: '/height', code: '<b>' }),
      value('blocks_indexed_total', 5000),
      value('logs_indexed_total', 0),
      value('ingest_errors_total', 2, { kind: 'overload' }),
      value('process_start_time_seconds', NOW / 1000 - 600),
    ],
  })
  expect(textOf(document, 'state')).toBe(
    '· BACKFILL: blocks that the node already has are being indexed. ' +
      'Not ready: waiting for 15000 more blocks of the node. ' +
      'As of 2026-01-01 00:10:00 UTC . Reload the page for newer values.',
  )
  expect(textOf(document, 'figures')).toBe(
    'Key figures Progress 25.00% 5,000 of 20,000 blocks ' +
      'Estimated end of the backfill in 40 min 2026-01-01 00:50:00 UTC ' +
      'Height 5,999 from block 1,000 Height of the node 20,999 Behind the node 15,000 blocks ' +
      'Age of the newest indexed block 1 min 30 s Store size 3.00 GiB limit 4.00 GiB Logs in the store 1,234,567',
  )
  expect(textOf(document, 'requests')).toBe(
    'Requests By path and status code, since the process started at 2026-01-01 00:00:00 UTC . ' +
      '/height &lt;b&gt; 0 /query 200 4,321 /query 503 ! attention: 7',
  )
  expect(textOf(document, 'ingest')).toBe(
    'Ingest Since the process started. Blocks indexed 5,000 Logs indexed 0 Errors: overload ! attention: 2',
  )
  expect(document).toContain('chain-agent 1.2.3.')
  // The pages of the agent do not exist here.
  expect(document.match(/href="\/[^"]*"/g)?.filter((link) => !link.includes('/assets/'))).toEqual([
    'href="/"',
    'href="/metrics"',
    'href="/-/healthy"',
    'href="/-/ready"',
  ])
})

it('an unknown value is shown as unknown, with the reason', () => {
  const document = renderServicePage({
    version: '1.2.3',
    now: NOW,
    waitingFor: ['the store'],
    backfillEndsAt: null,
    values: [value('phase', 1, { phase: 'starting' })],
  })
  expect(textOf(document, 'state')).toMatch(
    /^\? STARTING: the ingest has not started\. Not ready: waiting for the store/,
  )
  const noBlock = 'unknown no block is indexed yet'
  const notMeasured = 'unknown the store has not been measured yet'
  expect(textOf(document, 'figures')).toBe(
    `Key figures Progress ${noBlock} Height ${noBlock} ` +
      'Height of the node unknown the node has not reported its finalized block in the last minute ' +
      `Behind the node ${noBlock} Age of the newest indexed block ${noBlock} ` +
      `Store size ${notMeasured} not limited by size Logs in the store ${notMeasured}`,
  )
})

it('the end of a backfill without progress is unknown', () => {
  const values = [value('phase', 1, { phase: 'backfill' })]
  const document = renderServicePage({ version: '1.2.3', now: NOW, waitingFor: [], backfillEndsAt: null, values })
  expect(textOf(document, 'figures')).toContain(
    'Estimated end of the backfill unknown requires 10 s in which the distance to the node decreases',
  )
})
