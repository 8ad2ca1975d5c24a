import { type Clock } from '../../core/clock.ts'
import { minute, second } from '../../core/units.ts'
import { backoff } from './backoff.ts'
import { classify, type Verdict } from './classify.ts'
import { type Counters } from './counters.ts'
import { QueryError } from './errors.ts'
import { type Limiter, LONGEST_WAIT } from './limiter.ts'
import { type Tell } from './tell.ts'
import { type Exchange } from './transport.ts'
import { type Retry } from './types.ts'

export interface Request {
  readonly path: 'query' | 'height'
  readonly body: string | null
  readonly tell: Tell
  readonly counters: Counters
  readonly signal: AbortSignal
  /** Tries that these blocks have cost already, where less could be asked for than that. */
  readonly late?: { readonly tried: number; readonly canShrink: boolean } | undefined
}

/** The body of the answer, or that it was asked for too much at a time. Throws a QueryError. */
export type Ask = (request: Request) => Promise<Buffer | 'too large' | 'too slow'>

interface AskOptions {
  readonly exchange: Exchange
  readonly limiter: Limiter
  readonly clock: Clock
  readonly retries: number
  readonly isLoopback: boolean
  /** Called before each wait for another attempt. */
  readonly onRetry: (retry: Retry) => void
}

const MOST_WAITS = 30
/** Waits in a row as long as the service says, before it is no more believed that they are long enough. */
const BELIEVED = 3
/** Of one request: after that, less is asked for. */
export const LATE_TRIES = 2

export const createAsk = ({
  exchange,
  limiter,
  clock,
  retries,
  isLoopback,
  onRetry,
}: AskOptions): Ask => {
  let hasAnswered = false
  return async ({ path, body, tell, counters, signal, late }) => {
    let tried = late?.tried ?? 0
    let lates = 0
    let waits = 0
    for (;;) {
      counters.waitedMs += await limiter.ready(signal)
      if (signal.aborted) {
        limiter.heard({})
        throw cancelled(tell)
      }
      counters.requests += 1
      const came = await exchange(path, body, signal)
      limiter.heard('kind' in came ? {} : came.headers)
      if (signal.aborted) throw cancelled(tell)
      if (!('kind' in came)) hasAnswered = true
      const verdict = classify(came, clock.now())
      if (verdict.kind === 'ok') return verdict.body
      if (verdict.kind === 'shrink') return 'too large'
      if (verdict.kind === 'wait') {
        waits += 1
        const waitMs = patience(verdict, { waits, tell })
        onRetry({ happened: verdict.happened, waitMs, attempt: null })
        limiter.pause(waitMs)
        continue
      }
      tried += 1
      if (verdict.kind !== 'retry') throw tell(verdict.kind, verdict.happened, verdict.evidence)
      if (verdict.isLate === true) lates += 1
      // On this host nothing is on the way to a port that no process has: waiting cannot help, unless
      // a service that has answered before is being restarted.
      const isDown = verdict.isRefused === true && isLoopback && !hasAnswered
      if (isDown || tried > retries) throw tell('unreachable', verdict.happened, verdict.evidence)
      counters.retries += 1
      if (lates >= LATE_TRIES && late?.canShrink === true) return 'too slow'
      const waitMs = backoff(tried)
      onRetry({
        happened: verdict.happened,
        waitMs,
        attempt: { number: tried + 1, of: retries + 1 },
      })
      counters.waitedMs += waitMs
      await clock.sleep(waitMs, signal)
    }
  }
}

const cancelled = (tell: Tell): QueryError => tell('unreachable', 'it was cancelled')

const patience = (
  { happened, ms, evidence }: Extract<Verdict, { kind: 'wait' }>,
  { waits, tell }: { readonly waits: number; readonly tell: Tell },
): number => {
  if (waits > MOST_WAITS) throw tell('unreachable', `${happened} again and again`, evidence)
  if (ms !== undefined && ms > LONGEST_WAIT) {
    throw tell('unreachable', `${happened} and asks for a long wait`, `${Math.ceil(ms / 1000)} s`)
  }
  // A service that says "now" has said it of a budget that others spend, too.
  if (ms === undefined || ms === 0) return doubled(waits)
  return Math.max(ms, waits > BELIEVED ? doubled(waits - BELIEVED + 1) : second)
}

const doubled = (times: number): number => Math.min(minute, second * 2 ** (times - 1))

/** What came once and was no answer may be an answer the second time; then it is not believed any more. */
export const twice = async <T>(
  tryOnce: () => Promise<T>,
  between: () => Promise<void>,
): Promise<T> => {
  try {
    return await tryOnce()
  } catch (error) {
    if (!(error instanceof QueryError) || error.kind !== 'protocol') throw error
    await between()
    return await tryOnce()
  }
}
