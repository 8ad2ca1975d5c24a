import { type Collector, type Context, type Timing, withDeadline } from '../../core/collector.ts'
import { attempt } from '../../core/outcome.ts'
import { second } from '../../core/units.ts'
import { sample, sampleIfKnown } from '../../core/metric.ts'
import type { Balances, TokenFeed, WatchedToken } from './feed.ts'
import type { OfferCollector } from '../dependencies.ts'
import { definition } from './definition.ts'

interface Held {
  readonly name: string
  readonly address: string
  readonly id: bigint | null
  /** In the token's smallest unit; null where it is not known. */
  readonly balance: bigint | null
}

interface Watched {
  readonly name: string
  readonly contract: string
  readonly standard: string
  readonly decimals: number
  readonly throughBlock: number | null
  readonly state: string
  /** Whether there is more to read, and it is there. */
  readonly goesOn: boolean
  readonly holders: readonly Held[]
}

export interface TokensReading {
  readonly tokens: readonly Watched[]
}

interface Parts {
  readonly watch: readonly WatchedToken[]
  readonly feedOf: (token: WatchedToken) => TokenFeed
  readonly timing: Timing
}

const READING = 'the history is being read'
/** While there is history to read, one stretch follows the other. */
const PAUSE_MS = second
/** Of the time for all: the tokens share the first part; a page that takes longer has the second. */
const SHARED = 0.8
const FOR_ALL = 0.9

/** Balances of configured holders, from the events of their tokens. */
export const tokens = ({ watch, feedOf, timing }: Parts): Collector<TokensReading> => {
  const feeds = watch.map((token) => ({ token, feed: feedOf(token), turn: 0 }))
  const soft = (timing.timeout * SHARED) / Math.max(1, feeds.length)
  let turns = 0

  const read = async ({ clock, signal }: Context): Promise<TokensReading> => {
    const end = clock.elapsed() + timing.timeout * FOR_ALL
    const came = new Map<string, Watched>()
    // Who has waited longest comes first.
    for (const one of feeds.toSorted((first, other) => first.turn - other.turn)) {
      const hard = end - clock.elapsed()
      if (hard <= 0) {
        came.set(one.token.name, watched(one.token, WAITS))
        continue
      }
      turns += 1
      one.turn = turns
      came.set(one.token.name, watched(one.token, await one.feed.advance({ soft, hard }, signal)))
    }
    return { tokens: watch.flatMap(({ name }) => came.get(name) ?? []) }
  }

  return {
    name: definition.name,
    help: definition.help,
    timing,
    run: async (context, report) => {
      while (!context.signal.aborted) {
        const outcome = await attempt(context.clock, () =>
          withDeadline(context, timing.timeout, read),
        )
        if (context.signal.aborted) return
        report(outcome)
        const isBehind = outcome.ok && outcome.value.tokens.some(({ goesOn }) => goesOn)
        await context.clock.sleep(isBehind ? PAUSE_MS : timing.interval, context.signal)
      }
    },
    samples: ({ tokens: all }) =>
      all.flatMap(({ name, decimals, throughBlock, holders }) => [
        ...sampleIfKnown('chain_token_through_block', throughBlock, { token: name }),
        ...holders.flatMap(({ name: holder, id, balance }) =>
          balance === null
            ? []
            : [
                sample('chain_token_balance', inUnits(balance, decimals), {
                  token: name,
                  holder,
                  id: id?.toString() ?? '',
                }),
              ],
        ),
      ]),
    states: ({ tokens: all }) =>
      Object.fromEntries(all.map(({ name, state }) => [`balances of ${name}`, state])),
  }
}

const WAITS: Balances = {
  through: null,
  result: null,
  hasMoved: false,
  refusal: 'the others have taken all the time: next time it comes first',
}

const watched = (
  token: WatchedToken,
  { through, result, hasMoved, refusal }: Balances,
): Watched => {
  const { name, contract, standard, decimals } = token
  return {
    name,
    contract,
    standard,
    decimals,
    throughBlock: through,
    state: refusal ?? stateOf(result),
    goesOn: refusal === null && result === null && hasMoved,
    holders: token.holders.map(({ name: holder, address, id }, at) => ({
      name: holder,
      address,
      id,
      balance: result?.isExplained ? (result.held[at] ?? null) : null,
    })),
  }
}

const stateOf = (result: Balances['result']): string => {
  if (result === null) return READING
  return result.isExplained ? 'known' : 'its events do not explain its balances'
}

/** The nearest float: Number reads a decimal exactly rounded, where dividing floats rounds twice. */
const inUnits = (balance: bigint, decimals: number): number => Number(`${balance}e-${decimals}`)

export const offer: OfferCollector = ({ config, tokenFeed }) => ({
  hasWork: config.tokens.watch.length > 0,
  // A single check does not read a history.
  role: 'outbound',
  create: (timing) => tokens({ watch: config.tokens.watch, feedOf: tokenFeed, timing }),
})
