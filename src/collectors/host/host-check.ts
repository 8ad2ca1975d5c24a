import { type Context, withDeadline } from '../../core/clock.ts'
import { SourceError, summaryOf } from '../../core/errors.ts'
import { attempt } from '../../core/collector.ts'
import type { Sample } from '../../core/metric.ts'
import { minute } from '../../core/units.ts'
import { parseCount } from '../../parsers/kernel-files.ts'
import type { FileTree } from '../../sources/file-tree.ts'
import type { Settings, Uses } from '../dependencies.ts'
import type { definition } from './definition.ts'

/** What the checks are made from. */
export type HostUses = Uses<
  'host' | 'exec' | 'recorder' | 'clock' | 'mainPids' | 'nodeDirectory' | 'nodeFiles' | 'readPrefix' | 'keyFiles',
  Settings<typeof definition, 'ports' | 'firewalledPorts' | 'directories' | 'fileSystems'>
>

/** The result of one check of the host, independent of the other checks. */
export interface CheckResult {
  readonly samples: readonly Sample[]
  /** A text that stays the same while nothing changes. */
  readonly state: string
}

export const KNOWN = 'known'
/** May be followed by `: ` and the reason. */
export const NOT_AVAILABLE = 'not available on this host'

/** A tool that fails, fails at each start, and costs as much as one that works. */
const REPEAT_AFTER_MS = minute

export interface HostCheck {
  readonly name: string
  /**
   * Minimum interval for expensive checks, in milliseconds; the last result is returned in between. A check that failed
   * is repeated after a minute at most.
   */
  readonly every?: number
  /** A text is a state without samples. */
  read(context: Context): Promise<CheckResult | readonly Sample[] | string>
}

/** Runs one check; `timeout` in milliseconds. If it fails, the state is the error, and its samples are absent. */
export const createCheckRunner = ({ name, every = 0, read }: HostCheck, timeout: number) => {
  let last: { readonly result: CheckResult; readonly dueAt: number } | undefined
  /** A read from a failing drive may block for minutes; a second one would block, too. */
  let isWaiting = false
  const readOnce = async (context: Context): Promise<CheckResult> => {
    isWaiting = true
    try {
      return resultOf(await read(context))
    } finally {
      isWaiting = false
    }
  }
  return {
    name,
    run: async (context: Context): Promise<CheckResult> => {
      const { clock } = context
      if (isWaiting) return { samples: [], state: 'not known: the previous read has not completed' }
      const at = clock.elapsed()
      if (last && at < last.dueAt) return last.result
      const outcome = await attempt(clock, () => withDeadline(context, timeout, readOnce))
      last = outcome.ok
        ? { result: outcome.value, dueAt: at + every }
        : {
            result: { samples: [], state: `not known: ${failureText(outcome.error)}` },
            dueAt: at + Math.min(every, REPEAT_AFTER_MS),
          }
      return last.result
    },
  }
}

/** Runs the checks concurrently. */
export const runAll = async (
  checks: readonly ReturnType<typeof createCheckRunner>[],
  context: Context,
): Promise<ReadonlyMap<string, CheckResult>> =>
  new Map(
    await Promise.all(
      checks.map(async (check): Promise<readonly [string, CheckResult]> => [check.name, await check.run(context)]),
    ),
  )

/** The samples of each, read concurrently. */
export const samplesOfEach = async <T>(
  all: readonly T[],
  read: (one: T) => Promise<readonly Sample[]>,
): Promise<readonly Sample[]> => (await Promise.all(all.map(read))).flat()

/** The number in a file, for errors with a name; null if there is no file, or no number yet. */
export const readCount = async (tree: FileTree, path: string, what: string): Promise<bigint | null> => {
  const text = await tree.read(path)
  return text === null ? null : parseCount(what, text)
}

const resultOf = (found: CheckResult | readonly Sample[] | string): CheckResult => {
  if (typeof found === 'string') return { samples: [], state: found }
  return 'state' in found ? found : { samples: found, state: found.length === 0 ? NOT_AVAILABLE : KNOWN }
}

const failureText = (error: Error): string =>
  error instanceof SourceError && error.advice !== undefined ? `${error.summary}; ${error.advice}` : summaryOf(error)
