import { z } from 'zod'
import type { Recorder } from '../../core/recorder.ts'
import { EXIT_RESULTS } from './definition.ts'
import { createRecent } from '../shared/recent.ts'

/**
 * Counts starts and ends of units. Two witnesses report them, the poll of systemctl and the lines of
 * systemd in the journal; each run of a unit has an invocation id, so each is counted once. The
 * journal also tells what came and went between two polls; the poll works without the right to read
 * the journal.
 */
export interface Lifecycle {
  /** Brings the counters into being, once a witness speaks: before that, 0 would be a claim. */
  begin(): void
  /** What a poll shows. The first sight of a service is no start, and no end. */
  saw(seen: {
    readonly service: string
    readonly invocation: string | null
    readonly result: string | null
  }): void
  /** What the journal tells. `isOld`: from before the agent began, to be known but not counted. */
  started(told: Told): void
  ended(told: Told & { readonly result: string }): void
  /** What must outlive the agent. */
  memory(): unknown
  restore(memory: unknown): void
}

interface Told {
  readonly service: string
  readonly invocation: string
  readonly isOld: boolean
}

/** Runs whose start or end has been counted: enough for a unit that is started anew every second for minutes. */
const REMEMBERED = 500

const remembered = z.object({ starts: z.array(z.string()), ends: z.array(z.string()) })

export const createLifecycle = (recorder: Recorder, services: readonly string[]): Lifecycle => {
  const starts = createRecent(REMEMBERED)
  const ends = createRecent(REMEMBERED)
  const polled = new Map<string, { invocation: string | null; readonly first: string | null }>()
  let hasBegun = false

  const countStart = (service: string, invocation: string, by: 0 | 1): void => {
    if (starts.add(invocation)) recorder.count('chain_service_starts_total', by, { service })
  }
  const countEnd = (
    service: string,
    invocation: string,
    { by, word }: { by: 0 | 1; word: string },
  ): void => {
    const result = EXIT_RESULTS.find((known) => known === word) ?? 'other'
    if (ends.add(invocation)) recorder.count('chain_service_exits_total', by, { service, result })
  }

  const begin = (): void => {
    if (hasBegun) return
    hasBegun = true
    for (const service of services) {
      recorder.count('chain_service_starts_total', 0, { service })
      for (const result of EXIT_RESULTS)
        recorder.count('chain_service_exits_total', 0, { service, result })
    }
  }

  return {
    begin,
    saw: ({ service, invocation, result }) => {
      begin()
      const before = polled.get(service)
      if (!before) {
        // What had ended before our first sight may still be told by the journal, if it is news there.
        polled.set(service, { invocation, first: result === null ? null : invocation })
        return
      }
      if (invocation === null) return // an unloaded unit has forgotten its last run
      if (invocation !== before.invocation) countStart(service, invocation, 1)
      before.invocation = invocation
      if (result !== null && invocation !== before.first)
        countEnd(service, invocation, { by: 1, word: result })
    },
    started: ({ service, invocation, isOld }) => {
      countStart(service, invocation, isOld ? 0 : 1)
    },
    ended: ({ service, invocation, result, isOld }) => {
      countEnd(service, invocation, { by: isOld ? 0 : 1, word: result })
    },
    memory: () => ({ starts: starts.all(), ends: ends.all() }),
    restore: (memory) => {
      const { data } = remembered.safeParse(memory)
      for (const invocation of data?.starts ?? []) starts.add(invocation)
      for (const invocation of data?.ends ?? []) ends.add(invocation)
    },
  }
}
