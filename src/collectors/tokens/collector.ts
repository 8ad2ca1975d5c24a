import { attempt, type Collector, type Timing } from '../../core/collector.ts'
import { type Context, withDeadline } from '../../core/clock.ts'
import { second } from '../../core/units.ts'
import { sample, sampleIfKnown } from '../../core/metric.ts'
import type { OfferCollector } from '../dependencies.ts'
import { definition } from './definition.ts'
import type { Balances, TokenFeed, WatchedToken } from './feed.ts'

interface HolderBalance {
  readonly name: string
  readonly address: string
  readonly id: bigint | null
  /** In the smallest unit of the token; null if unknown. */
  readonly balance: bigint | null
}

interface TokenReading {
  readonly name: string
  readonly contract: string
  readonly standard: string
  readonly decimals: number
  readonly throughBlock: number | null
  readonly state: string
  /** Whether more events are available. */
  readonly hasMore: boolean
  readonly holders: readonly HolderBalance[]
}

export interface TokensReading {
  readonly tokens: readonly TokenReading[]
}

interface TokensCollectorOptions {
  readonly watch: readonly WatchedToken[]
  readonly feedOf: (token: WatchedToken) => TokenFeed
  readonly timing: Timing
}

const READING = 'the history is being read'
/** Interval while the history is being read. */
const HISTORY_INTERVAL_MS = second
/** Parts of the timeout: the tokens share the first; a page that takes longer may use the second. */
const SOFT_PART = 0.8
const HARD_PART = 0.9

/** Balances of configured holders, from the events of their tokens. */
export const tokens = ({ watch, feedOf, timing }: TokensCollectorOptions): Collector<TokensReading> => {
  const feeds = watch.map((token) => ({ token, feed: feedOf(token), turn: 0 }))
  const soft = (timing.timeout * SOFT_PART) / Math.max(1, feeds.length)
  let turns = 0

  const read = async ({ clock, signal }: Context): Promise<TokensReading> => {
    const end = clock.elapsed() + timing.timeout * HARD_PART
    const readings = new Map<string, TokenReading>()
    // The token that was read least recently comes first.
    for (const one of feeds.toSorted((first, other) => first.turn - other.turn)) {
      const hard = end - clock.elapsed()
      if (hard <= 0) {
        readings.set(one.token.name, readingOf(one.token, NO_TIME_LEFT))
        continue
      }
      turns += 1
      one.turn = turns
      readings.set(one.token.name, readingOf(one.token, await one.feed.advance({ soft, hard }, signal)))
    }
    return { tokens: watch.flatMap(({ name }) => readings.get(name) ?? []) }
  }

  return {
    name: definition.name,
    help: definition.help,
    timing,
    run: async (context, report) => {
      while (!context.signal.aborted) {
        const outcome = await attempt(context.clock, () => withDeadline(context, timing.timeout, read))
        if (context.signal.aborted) return
        report(outcome)
        const isBehind = outcome.ok && outcome.value.tokens.some(({ hasMore }) => hasMore)
        await context.clock.sleep(isBehind ? HISTORY_INTERVAL_MS : timing.interval, context.signal)
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
    states: ({ tokens: all }) => Object.fromEntries(all.map(({ name, state }) => [`balances of ${name}`, state])),
  }
}

const NO_TIME_LEFT: Balances = {
  through: null,
  result: null,
  hasMoved: false,
  refusal: 'no time left in this round: it is read first in the next one',
}

const readingOf = (token: WatchedToken, { through, result, hasMoved, refusal }: Balances): TokenReading => {
  const { name, contract, standard, decimals } = token
  return {
    name,
    contract,
    standard,
    decimals,
    throughBlock: through,
    state: refusal ?? stateOf(token, result),
    hasMore: refusal === null && result === null && hasMoved,
    holders: token.holders.map(({ name: holder, address, id }, at) => ({
      name: holder,
      address,
      id,
      balance: result?.isExplained ? (result.held[at] ?? null) : null,
    })),
  }
}

const stateOf = ({ standard, profile }: WatchedToken, result: Balances['result']): string => {
  if (result === null) return READING
  if (!result.isExplained) {
    const hint = standard === 'erc20' && profile === null ? ' (a wrapped native token needs profile: weth)' : ''
    return `its events do not explain its balances${hint}`
  }
  return result.isAmbiguous
    ? `known, if it is a token of ${standard}: its events do not distinguish ERC-20 from ERC-721`
    : 'known'
}

/** The nearest float: Number parses a decimal with one rounding, dividing floats rounds twice. */
const inUnits = (balance: bigint, decimals: number): number => Number(`${balance}e-${decimals}`)

export const offer: OfferCollector<typeof definition> = ({ watch }, { tokenFeed }) => ({
  hasWork: watch.length > 0,
  // A single check does not read a history.
  role: 'outbound',
  create: (timing) => tokens({ watch, feedOf: tokenFeed, timing }),
})
