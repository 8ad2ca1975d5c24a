import { derived } from '../../src/collectors/derived/collector.ts'
import { createOwnKey } from '../../src/collectors/shared/node-state.ts'
import { createDuties, createRoundCounter } from '../../src/collectors/derived/duties.ts'
import type { Outcome } from '../../src/core/collector.ts'
import { type Sample, sample } from '../../src/core/metric.ts'
import { manualClock } from '../support/manual-clock.ts'

export const KEY = `03${'7d'.repeat(32)}`
export const BOOT = '5f0c6a52-0b1e-4bb6-9d0e-0a3f8f1f7c11'
export const NOW = Date.UTC(2026, 2, 1, 12)

/** Runs the derived collector over published samples. */
export const start = async (
  publishedKey: string | null = KEY,
  {
    blocksyncWindow = 600,
    bootId = BOOT,
    at = NOW,
    saved: savedBefore,
  }: {
    readonly blocksyncWindow?: number | null
    readonly bootId?: string | null
    readonly at?: number
    readonly saved?: unknown
  } = {},
) => {
  const clock = manualClock(at)
  const stopping = new AbortController()
  let published: readonly Sample[] = []
  let saved = savedBefore
  const rounds = createRoundCounter()
  const collector = derived({
    published: () => published,
    roundCounter: rounds,
    duties: createDuties(),
    ownKey: createOwnKey(publishedKey),
    blocksyncWindow,
    readBootId: () => Promise.resolve(bootId === null ? null : `${bootId}\n`),
    checkpoint: {
      read: () => Promise.resolve(saved === undefined ? { state: 'none' } : { state: 'saved', value: saved }),
      save: (value) => {
        saved = value
        return Promise.resolve()
      },
    },
    timing: { interval: 5000, timeout: 5000 },
  })
  let last: Outcome<Parameters<typeof collector.samples>[0]> | undefined
  void collector.run({ clock, signal: stopping.signal }, (outcome) => {
    last = outcome
  })
  await clock.advance(0)
  const series = (name: string): readonly Sample[] => {
    if (!last?.ok) throw last?.error ?? new Error('no reading')
    return collector.samples(last.value).filter((one) => one.name === name)
  }
  return {
    rounds,
    clock,
    /** Publishes samples while N seconds pass in steps of the interval. */
    run: async (seconds: number, publish: (second: number) => readonly Sample[]) => {
      for (let passed = 0; passed < seconds; passed += 5) {
        published = publish((clock.now() - NOW) / 1000)
        await clock.advance(5000)
        await clock.advance(0)
      }
    },
    value: (name: string, labels: Readonly<Record<string, string>> = {}): number | undefined =>
      series(name).find((one) => Object.entries(labels).every(([label, value]) => one.labels[label] === value))?.value,
    series,
    /** Stops the collector, and returns what it has saved, as JSON. */
    stop: async (): Promise<unknown> => {
      stopping.abort()
      await clock.advance(0)
      return JSON.parse(JSON.stringify(saved))
    },
  }
}

/** A node at the head: block 1000 at the beginning, three blocks a second. */
export const node = (second: number): readonly Sample[] => [
  sample('chain_ledger_seq_num', 1000 + 3 * second, { event: 'proposed' }),
  sample('chain_ledger_block_timestamp_seconds', NOW / 1000 + second, { event: 'proposed' }),
]
