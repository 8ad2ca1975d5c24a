import { median, type ReleaseCommit, type Take } from './comparison.ts'
import { releaseName } from './release.ts'
import type { Section } from './report.ts'

export const CPU = 'CPU, % of one core'
export const RSS = 'RSS, MiB'
/** Percent of one core by which this checkout may need more than the last release. */
const MORE_CPU = 0.1
/** What its memory may be divided by that of the last release. */
const MORE_RSS = 1.05
const LEAST_WINDOWS = 5
const MOST_WINDOWS = 20

/** The comparisons that have the last release in them. */
export const BUDGETED: readonly string[] = ['agent', 'agent-logs']

type Rounds = readonly (readonly Take[])[]

/** This checkout and the last release are the first two programs, and were measured in the same window. */
const pairsOf = (rounds: Rounds, figure: string): readonly (readonly [number, number])[] =>
  rounds.flatMap(([own, release]) => {
    const [now, before] = [own?.figures[figure], release?.figures[figure]]
    return now === undefined || before === undefined ? [] : [[now, before] as const]
  })

const cpuDifferences = (rounds: Rounds): readonly number[] => pairsOf(rounds, CPU).map(([now, before]) => now - before)

/**
 * Whether the median of the differences is clearly on one side of the limit: so few of them are on the other side that,
 * if both sides were equally likely, this would happen in fewer than 5 % of checks. Of 5 to 7 windows none may be, of 8
 * one, of 11 two, of 14 three.
 */
const isClear = (rounds: Rounds): boolean => {
  const { length } = rounds
  const above = cpuDifferences(rounds).filter((points) => points > MORE_CPU).length
  return Math.min(above, length - above) <= Math.floor((length - LEAST_WINDOWS) / 3)
}

/** Whether a check may end; if the median is not clear, it does so after 20 windows. */
export const hasEnoughWindows = (rounds: Rounds): boolean =>
  rounds.length >= LEAST_WINDOWS && (isClear(rounds) || rounds.length >= MOST_WINDOWS)

/** Whether this checkout keeps the budget, with a line for each figure. */
export const checkBudget = (
  { name, failure, measured }: Pick<Section, 'name' | 'failure' | 'measured'>,
  release: ReleaseCommit,
): { readonly isKept: boolean; readonly lines: readonly string[] } => {
  const peer = releaseName(release)
  if (measured?.programs[1] !== peer) {
    return {
      isKept: false,
      lines: [`${name}: not compared with ${peer}: ${failure === undefined ? 'not measured' : 'failed'}`],
    }
  }
  const { rounds } = measured
  const points = cpuDifferences(rounds)
  const ratios = pairsOf(rounds, RSS).map(([now, before]) => now / before)
  const [cpu, rss] = [median(points), median(ratios)]
  const isCpuKept = cpu <= MORE_CPU
  const isRssKept = rss <= MORE_RSS
  const windows = `median of ${rounds.length} windows`
  const isKept = isCpuKept && isRssKept
  return {
    isKept,
    lines: [
      `${name}: ${isCpuKept ? 'ok' : 'TOO MUCH'}: CPU ${signed(cpu)} points against ${peer}, limit ${signed(MORE_CPU)} (${windows}, ${signed(Math.min(...points))} to ${signed(Math.max(...points))})`,
      `${name}: ${isRssKept ? 'ok' : 'TOO MUCH'}: RSS ${percent(rss)} against ${peer}, limit ${percent(MORE_RSS)} (${windows}, ${percent(Math.min(...ratios))} to ${percent(Math.max(...ratios))})`,
      ...(isClear(rounds)
        ? []
        : [`${name}: the windows differ too much for a clear result: repeat it on a quiet machine`]),
      ...(isKept
        ? []
        : [
            `${name}: a change that needs more names its reason in CHANGELOG.md (CONTRIBUTING.md has the steps of a release)`,
          ]),
    ],
  }
}

const signed = (points: number): string => `${points < 0 ? '−' : '+'}${Math.abs(points).toFixed(2)}`
const percent = (ratio: number): string => `${ratio < 1 ? '−' : '+'}${(Math.abs(ratio - 1) * 100).toFixed(1)} %`
