import { expect, test } from 'vitest'
import { isCurrent, journalSamples, withConsensusEvents } from '../../../src/commands/replay/rules.ts'
import type { ServiceRuns } from '../../../src/commands/replay/collectors.ts'
import { createSampleIndex, sample } from '../../../src/core/metric.ts'
import { blockAge } from '../../../src/health/facts.ts'

const serviceRuns = {
  active: () =>
    new Map([
      ['bft', false],
      ['cruft', false],
    ]),
  started: () => new Map([['bft', 950_000]]),
  isPartialRestart: () => null,
} satisfies Partial<ServiceRuns>

const textOf = (samples: ReturnType<typeof journalSamples>) =>
  samples.map(({ name, labels, value }) => `${name} ${Object.values(labels).join()} ${value}`.replace('chain_', ''))

test('the journal has the state of services, the boot time, and the newest blocks', () => {
  const known = createSampleIndex([
    sample('chain_execution_block_number', 70),
    sample('chain_execution_block_started_timestamp_seconds', 1000),
    sample('chain_ledger_block_timestamp_seconds', 1002, { event: 'proposed' }),
  ])
  expect(textOf(journalSamples({ known, serviceRuns, timers: ['cruft'], bootedAt: 900_000 }))).toEqual([
    'service_active bft 0',
    'service_expected bft 1',
    'service_active cruft 0',
    'service_expected cruft 0',
    'service_start_timestamp_seconds bft 950',
    'host_boot_timestamp_seconds  900',
    'rpc_block_number latest 70',
    'rpc_last_advance_timestamp_seconds  1002',
  ])
})

test('the clock of execution is not the time of the block: without the ledger stream its age is unknown', () => {
  const known = createSampleIndex([
    sample('chain_execution_block_number', 70),
    sample('chain_execution_block_started_timestamp_seconds', 1000),
  ])
  const samples = journalSamples({ known, serviceRuns, timers: [], bootedAt: null })
  expect(blockAge({ known: createSampleIndex(samples), at: 1_000_000 })).toBeUndefined()
  expect(textOf(samples)).toContain('rpc_last_advance_timestamp_seconds  1000')
})

test('behind execution the ledger stream has stopped: the time of its newest block is not an age', () => {
  const samplesAt = (executed: number) => [
    sample('chain_execution_block_number', executed),
    sample('chain_ledger_seq_num', 100, { event: 'proposed' }),
    sample('chain_ledger_block_timestamp_seconds', 1000, { event: 'proposed' }),
  ]
  const keptAt = (executed: number) => {
    const samples = samplesAt(executed)
    return samples.filter(isCurrent(createSampleIndex(samples))).map(({ name }) => name)
  }
  // While it catches up execution is behind the stream.
  for (const executed of [50, 130]) expect(keptAt(executed)).toHaveLength(3)
  expect(keptAt(131)).toEqual(['chain_execution_block_number', 'chain_ledger_seq_num'])
})

test('what the journal does not show is absent', () => {
  const nothing = { active: () => new Map(), started: () => new Map(), isPartialRestart: () => null }
  const known = createSampleIndex([])
  expect(journalSamples({ known, serviceRuns: nothing, timers: [], bootedAt: null })).toEqual([])
})

test('messages of consensus with the meaning of one of its events are that event while consensus runs', () => {
  const messages = ['local_timeout', 'vote_created'].map((kind) => ({
    name: 'chain_consensus_messages_total',
    labels: { kind },
    value: 3,
  }))
  expect(withConsensusEvents(messages, true)).toEqual([
    ...messages,
    { name: 'chain_native_events_total', labels: { event: 'local_timeout' }, value: 3 },
  ])
  expect(withConsensusEvents(messages, false)).toEqual(messages)
})
