import { writeFileSync } from 'node:fs'
import { z } from 'zod'
import plan from '../suites.json' with { type: 'json' }
import before from '../times.json' with { type: 'json' }

/** What scripts/test.mjs passes on about a tier. */
const tierSchema = z.object({
  name: z.string(),
  /** Milliseconds since the epoch. */
  startedAt: z.number(),
  budgetMinutes: z.number().optional(),
  /** The commit, if the times are recorded. */
  record: z.string().optional(),
})
type Tier = z.output<typeof tierSchema>

/** Read once, and not inherited: tests that run vitest are no tier. */
const TIER = process.env['TEST_TIER']
delete process.env['TEST_TIER']

const RECORD = 'test/times.json'
const MOST_SLOW = 10
/** Files that took longer are recorded, in seconds: the next run begins with them. */
const SLOW_S = 10

export interface FileTime {
  /** Relative to the root. */
  readonly file: string
  readonly tests: number
  /** Of a worker, with the import of its modules. */
  readonly seconds: number
}

/** Of a complete tier: the seconds of workers by suite, the slowest files, and its minutes next to its budget; empty for other runs. */
export const reportTimes = (times: readonly FileTime[]): readonly string[] => {
  if (TIER === undefined) return []
  const tier = tierSchema.parse(JSON.parse(TIER))
  const minutes = (Date.now() - tier.startedAt) / 60_000
  const files = times.toSorted((a, b) => b.seconds - a.seconds)
  const sums = suiteSums(files)
  record(tier, { minutes, sums, files })
  const rows = [
    ['suite', 'files', 'tests', 'seconds'],
    ...Object.entries(sums).map(([suite, sum]) => [suite, ...Object.values(sum).map(String)]),
  ]
  return [
    '',
    ...rows.map(([suite = '', ...numbers]) => suite.padEnd(18) + numbers.map((number) => number.padStart(9)).join('')),
    '',
    'slowest files:',
    ...files.slice(0, MOST_SLOW).map(({ file, seconds }) => `${seconds.toFixed(1).padStart(8)} s  ${file}`),
    '',
    `npm run ${tier.name}: ${minutes.toFixed(1)} min${verdictOf(minutes, tier.budgetMinutes)}`,
  ]
}

const verdictOf = (minutes: number, budget?: number): string =>
  budget === undefined ? '' : ` of ${budget} min${minutes > budget ? ', budget exceeded' : ''}`

const suiteSums = (files: readonly FileTime[]) => {
  const sums: Record<string, { files: number; tests: number; seconds: number }> = {}
  for (const { file, tests, seconds } of files) {
    const [, folder = ''] = /^test\/([^/]+)\/[^/]+$/.exec(file) ?? []
    const sum = (sums[folder in plan.suites ? folder : 'unit'] ??= { files: 0, tests: 0, seconds: 0 })
    sum.files += 1
    sum.tests += tests
    sum.seconds += seconds
  }
  for (const sum of Object.values(sums)) sum.seconds = Math.round(sum.seconds)
  return sums
}

interface Measured {
  readonly minutes: number
  readonly sums: ReturnType<typeof suiteSums>
  readonly files: readonly FileTime[]
}

/** `npm run generate` writes the table of CONTRIBUTING.md from the record. */
const record = ({ name, record: commit }: Tier, { minutes, sums, files }: Measured): void => {
  if (commit === undefined) return
  const date = new Date().toISOString().slice(0, 10)
  const run = { minutes: Number(minutes.toFixed(1)), date, commit, node: process.version }
  const slow = files.filter(({ seconds }) => seconds > SLOW_S)
  const ofAll = {
    suites: sums,
    slowest: Object.fromEntries(slow.map(({ file, seconds }) => [file, Math.round(seconds)])),
  }
  const after = { ...before, tiers: { ...before.tiers, [name]: run }, ...(name === 'test:all' && ofAll) }
  writeFileSync(RECORD, `${JSON.stringify(after, null, 2)}\n`)
}
