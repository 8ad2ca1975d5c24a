import { type Context, withDeadline } from '../../core/collector.ts'
import { SourceError, summaryOf } from '../../core/errors.ts'
import { attempt } from '../../core/outcome.ts'
import type { Sample } from '../../core/metric.ts'

/** What one look at one aspect of the host brought: nothing of it says anything of the others. */
export interface Sight {
  readonly samples: readonly Sample[]
  /** In words that stay the same while nothing changes. */
  readonly state: string
}

export interface Aspect {
  readonly name: string
  look(context: Context): Promise<Sight>
}

export const KNOWN = 'known'
/** By itself, or with `: ` and the reason behind it. */
export const NOT_TOLD = 'not told on this host'

interface Parts {
  readonly name: string
  /** How long one look may take, in milliseconds. */
  readonly timeout: number
  /** What is dear to find out is looked at only so often, in milliseconds. */
  readonly every?: number
  read(context: Context): Promise<Sight | readonly Sample[]>
}

/** One aspect, by itself: what fails is told in words, and leaves its values absent. */
export const createAspect = ({ name, timeout, every = 0, read }: Parts): Aspect => {
  let last: { readonly sight: Sight; readonly at: number } | undefined
  /** A drive that is dying may hold a reader for minutes; a second one would only wait beside it. */
  let isWaiting = false
  const readOnce = async (context: Context): Promise<Sight> => {
    isWaiting = true
    try {
      return sightOf(await read(context))
    } finally {
      isWaiting = false
    }
  }
  return {
    name,
    look: async (context) => {
      const { clock } = context
      if (isWaiting) return { samples: [], state: 'not known: still waiting for an answer' }
      if (last && clock.elapsed() - last.at < every) return last.sight
      const at = clock.elapsed()
      const outcome = await attempt(clock, () => withDeadline(context, timeout, readOnce))
      last = outcome.ok ? { sight: outcome.value, at } : undefined
      return last
        ? last.sight
        : { samples: [], state: `not known: ${outcome.ok ? '' : wordsOf(outcome.error)}` }
    },
  }
}

/** All of them at once. Each gets a signal of its own, for Node warns of more than ten listeners on one. */
export const lookAtAll = async (
  aspects: readonly Aspect[],
  { clock, signal }: Context,
): Promise<ReadonlyMap<string, Sight>> => {
  const looks = aspects.map((aspect) => ({ aspect, cancel: new AbortController() }))
  const stop = (): void => {
    for (const { cancel } of looks) cancel.abort(signal.reason)
  }
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    const seen = looks.map(async ({ aspect, cancel }): Promise<readonly [string, Sight]> => [
      aspect.name,
      await aspect.look({ clock, signal: cancel.signal }),
    ])
    return new Map(await Promise.all(seen))
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

const sightOf = (found: Sight | readonly Sample[]): Sight =>
  'state' in found ? found : { samples: found, state: found.length === 0 ? NOT_TOLD : KNOWN }

const wordsOf = (error: Error): string => {
  const [, advice] = /^ {2}what to do: (.+)$/m.exec(error.message) ?? []
  return error instanceof SourceError && advice !== undefined
    ? `${summaryOf(error)}; ${advice}`
    : summaryOf(error)
}
