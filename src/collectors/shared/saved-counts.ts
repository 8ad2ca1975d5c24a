import { z } from 'zod'
import type { Recorder } from '../../core/metric.ts'

/** A 64-bit integer or an amount, saved as decimal digits. */
export const savedInteger = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform(BigInt)

/** Of any version of the agent: the recorder ignores what this one does not count. */
const schema = z.object({
  counts: z.array(z.tuple([z.string(), z.number().nonnegative(), z.record(z.string(), z.string())])),
})

export type SavedCounts = ReturnType<typeof createSavedCounts>

/** Counts that are exported after they are saved, and continue after a restart. */
export const createSavedCounts = (recorder: Recorder) => {
  const totals = createSums()
  let pending = createSums()
  let observations: (() => void)[] = []
  let isStarted = false
  const savedRecorder: Recorder = {
    count: (name, by, ...labels) => pending.add(name, Number(by), { ...labels[0] }),
    countByName: (name, by, labels) => pending.add(name, by, labels),
    observe: (...observation) => observations.push(() => recorder.observe(...observation)),
  }

  return {
    recorder: savedRecorder,
    /** Takes what was recorded since the last call; the result exports it. */
    take: (): (() => void) => {
      const [counts, observed] = [pending.all(), observations]
      pending = createSums()
      observations = []
      for (const count of counts) totals.add(...count)
      return () => {
        for (const count of counts) recorder.countByName(...count)
        for (const observe of observed) observe()
      }
    },
    /** All that was taken, to be saved. A total of 0, as most are, is created again without being saved. */
    snapshot: () => ({ counts: totals.all().filter(([, total]) => total !== 0) }),
    /** Exports what an earlier process has saved. Only the first call in a process has an effect. */
    restore: (saved: unknown): void => {
      if (isStarted) return
      isStarted = true
      for (const count of schema.safeParse(saved).data?.counts ?? []) {
        totals.add(...count)
        recorder.countByName(...count)
      }
    },
  }
}

type Count = Parameters<Recorder['countByName']>

const createSums = () => {
  const sums = new Map<string, Count>()
  return {
    add: (name: Count[0], by: number, labels: Count[2]): void => {
      let key: string = name
      for (const label in labels) key += `\0${labels[label]}`
      // Not changed in place: what was taken is saved later.
      sums.set(key, [name, (sums.get(key)?.[1] ?? 0) + by, labels])
    },
    all: (): readonly Count[] => [...sums.values()],
  }
}
