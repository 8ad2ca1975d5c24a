import { expect, it } from 'vitest'
import { renderServicePage } from '../../../query/commands/serve-query/page.ts'
import { createStateTracker, type IngestState } from '../../../query/service/ingest/writer.ts'
import type { ExposedValue } from '../../../src/exporter/exposition.ts'
import { NO_ERRORS } from '../../query/ingest/fixtures.ts'

const NOW = Date.parse('2026-01-01T00:10:00Z')
const GiB = 1024 ** 3
const BACKFILL: IngestState = { ...createStateTracker(null).state(), phase: 'backfill' }
const EMPTY = { state: null, size: null, limitBytes: null, streams: 0 }

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
    service: {
      state: {
        ...BACKFILL,
        first: 1000,
        // 5,000 of 20,000 blocks.
        indexed: 5999,
        nodeHeight: 20_999,
        nodeHeightAt: NOW,
        indexedTimestamp: NOW / 1000 - 90,
        blocks: 5000,
        errors: { ...NO_ERRORS, overload: 2 },
      },
      size: { bytes: 3 * GiB, logs: 1_234_567, blocks: 5000 },
      limitBytes: 4 * GiB,
      streams: 0,
    },
    values: [
      value('requests_total', 7, { path: '/query', code: '503' }),
      value('requests_total', 4321, { path: '/query', code: '200' }),
      value('requests_total', 0, { path: '/height', code: '<b>' }),
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
    'Ingest Since the process started. Blocks indexed 5,000 Logs indexed 0 Errors: unreachable 0 Errors: overload ! attention: 2 ' +
      'Errors: refused 0 Errors: incomplete 0 Errors: unlinked 0 Errors: invalid 0 Errors: store 0',
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
    service: EMPTY,
    values: [],
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
  const service = { ...EMPTY, state: BACKFILL }
  const document = renderServicePage({
    version: '1.2.3',
    now: NOW,
    service,
    values: [],
    waitingFor: [],
    backfillEndsAt: null,
  })
  expect(textOf(document, 'figures')).toContain(
    'Estimated end of the backfill unknown requires 10 s in which the distance to the node decreases',
  )
})
