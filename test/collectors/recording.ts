import { toJson } from '../../src/core/json.ts'
import type { Recorder } from '../../src/core/metric.ts'
import type { Checkpoint } from '../../src/sources/checkpoint.ts'

/** A recorder with access to the totals and observations, by `name{labels}`. */
export const recording = () => {
  const totals = new Map<string, number>()
  const observed = new Map<string, number[]>()
  const keyOf = (name: string, labels: object = {}): string => {
    const text = Object.entries(labels)
      .map(([label, value]) => `${label}=${value}`)
      .join(',')
    return text === '' ? name : `${name}{${text}}`
  }
  const recorder: Recorder = {
    count: (name, by, ...[labels]) => recorder.countByName(name, Number(by), { ...labels }),
    countByName: (name, by, labels) => {
      const key = keyOf(name, labels)
      totals.set(key, (totals.get(key) ?? 0) + by)
    },
    observe: (name, seconds, ...[labels]) => {
      const key = keyOf(name, labels)
      observed.set(key, [...(observed.get(key) ?? []), seconds])
    },
  }
  return {
    recorder,
    total: (key: string): number | undefined => totals.get(key),
    totals: (): Record<string, number> => Object.fromEntries(totals),
    observed: (key: string): readonly number[] => observed.get(key) ?? [],
  }
}

/** A checkpoint in memory: `saved` returns what its file would have. */
export const memoryCheckpoint = (before?: unknown): Checkpoint & { saved(): unknown } => {
  let saved = before
  return {
    read: () => Promise.resolve(saved === undefined ? { state: 'none' } : { state: 'saved', value: saved }),
    save: (value) => {
      saved = JSON.parse(JSON.stringify(toJson(value)))
      return Promise.resolve()
    },
    saved: () => saved,
  }
}
