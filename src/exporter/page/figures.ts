import { databaseUsedRatio, isSyncing, newestBlock } from '../../domain/agreement.ts'
import { count, duration, figure, share } from '../../core/format.ts'
import type { Tone } from '../../domain/health.ts'
import { hour, second } from '../../core/units.ts'
import {
  blockAge,
  blockRate,
  lowestFreeRatio,
  networkRateText,
  NO_WINDOW,
  noBlockReason,
  noRateReason,
  servicesDown,
  servicesOf,
} from '../../health/facts.ts'
import { blocksBehind, blocksyncLeft, blocksyncLeftText } from '../../health/gap.ts'
import type { LimitOf } from '../../health/rules/index.ts'
import { whyUnknown, type View } from '../../health/sections/section.ts'
import type { KeyFigure } from './elements.ts'

type Measured = Pick<View, 'known' | 'at'>

interface Definition {
  readonly name: string
  readonly label: string
  /** Undefined is unknown. */
  readonly measure: (from: Measured) => number | undefined
  readonly text: (value: number, from: Measured) => string
  /** The alert whose limits apply, and whether it fires above or below them. */
  readonly alert?: readonly [name: string, side: 'above' | 'below']
  readonly limitText?: (limit: number) => string
  /** The unit of the limit, if it differs from the unit of the value. */
  readonly compared?: (value: number, from: Measured) => number
  /** Collectors whose failures explain that it is unknown. */
  readonly from: readonly string[]
  readonly absent?: (from: Measured) => string | undefined
  readonly hasHistory?: false
}

const noBlock = ({ known }: Measured): string | undefined => noBlockReason(known)
const seconds = (value: number): string => duration(value * second)

const DEFINITIONS: readonly Definition[] = [
  {
    name: 'height',
    label: 'Height',
    measure: ({ known }) => newestBlock(known)?.height,
    text: figure,
    from: ['rpc', 'ledger'],
    absent: noBlock,
    hasHistory: false,
  },
  {
    name: 'difference',
    label: 'Behind the network',
    measure: blocksBehind,
    text: (value) => (value < 0 ? `${count(-value, 'block')} ahead` : count(value, 'block')),
    alert: ['ChainBehind', 'above'],
    compared: (value, { known }) => value / blockRate(known),
    limitText: (limit) => `${limit} s of blocks`,
    from: ['reference', 'rpc', 'status'],
    absent: noBlock,
  },
  {
    name: 'blockAge',
    label: 'Age of the newest block',
    measure: blockAge,
    text: seconds,
    alert: ['ChainBlockStalled', 'above'],
    limitText: seconds,
    from: ['rpc', 'ledger'],
    absent: noBlock,
  },
  {
    name: 'rate',
    label: 'Blocks per second of the network',
    measure: ({ known }) => known.value('chain_blocks_per_second'),
    text: (_, from) => networkRateText(from) ?? '',
    from: ['derived'],
    absent: noRateReason,
  },
  {
    name: 'window',
    label: 'Blocksync window left',
    measure: (from) => blocksyncLeft(from)?.blocks,
    text: (_, from) => {
      const left = blocksyncLeft(from)
      return left ? blocksyncLeftText(left, from.known) : ''
    },
    alert: ['ChainBlocksyncWindow', 'below'],
    limitText: (limit) => count(limit, 'block'),
    from: ['reference', 'derived'],
    absent: () => NO_WINDOW,
  },
  {
    name: 'services',
    label: 'Services down',
    measure: ({ known }) => (servicesOf(known).length === 0 ? undefined : servicesDown(known).length),
    text: (value, { known }) => (value === 0 ? 'none' : `${value}: ${servicesDown(known).join(', ')}`),
    from: ['services'],
  },
  {
    name: 'database',
    label: 'Database used',
    measure: ({ known }) => databaseUsedRatio(known),
    text: share,
    alert: ['ChainStorageFull', 'above'],
    limitText: share,
    from: ['execution', 'storage'],
  },
  {
    name: 'disk',
    label: 'Fullest file system, free',
    measure: ({ known }) => lowestFreeRatio(known),
    text: share,
    alert: ['ChainDiskFull', 'below'],
    limitText: share,
    from: ['host'],
  },
]

/** Samples of the last hour: one for each evaluation of the rules, every 15 s. */
const CAPACITY = hour / (15 * second)

/** The key figures of the last hour, in memory: 240 numbers for each. */
export type History = ReturnType<typeof createHistory>

export const createHistory = () => {
  const values = new Map(
    DEFINITIONS.filter(({ hasHistory = true }) => hasHistory).map(({ name }) => [name, new Array<number | null>()]),
  )
  return {
    record: (from: Measured): void => {
      for (const { name, measure } of DEFINITIONS) {
        const list = values.get(name)
        list?.push(measure(from) ?? null)
        if (list && list.length > CAPACITY) list.shift()
      }
    },
    of: (name: string): readonly (number | null)[] => values.get(name) ?? [],
  }
}

export const keyFigures = (
  view: View,
  { history, limitOf }: { readonly history: History; readonly limitOf: LimitOf },
): readonly KeyFigure[] =>
  DEFINITIONS.map((definition) => {
    const { name, label, measure, text, from, absent, hasHistory = true } = definition
    const value = measure(view)
    const limits = limitsOf(definition, limitOf)
    const reasons = from.flatMap((collector) => {
      const why = whyUnknown(view.collector(collector))
      return why === null ? [] : [`${collector}: ${why}`]
    })
    return {
      name,
      label,
      value: value === undefined ? null : text(value, view),
      unknownBecause: value === undefined ? (absent?.(view) ?? (reasons.join('; ') || 'no source reports it')) : null,
      limit: limits.map(({ words }) => words).join(', ') || null,
      tone: value === undefined ? 'unknown' : (toneOf(definition, { value, view, limits }) ?? null),
      history: hasHistory ? history.of(name) : null,
    }
  })

const BLOCKED_BY_STATESYNC: readonly string[] = ['difference', 'blockAge', 'window']

type Limits = ReturnType<typeof limitsOf>

const limitsOf = ({ alert: [name, side] = ['', 'above'], limitText = figure }: Definition, limitOf: LimitOf) =>
  (['warning', 'critical'] as const).flatMap((severity) => {
    const limit = limitOf(name, severity)
    return limit === undefined ? [] : [{ severity, side, limit, words: `${severity} ${side} ${limitText(limit)}` }]
  })

const toneOf = (
  { name, compared = (value) => value }: Definition,
  { value, view, limits }: { readonly value: number; readonly view: View; readonly limits: Limits },
): Tone | undefined => {
  // The alerts on blocks do not fire while no block can arrive.
  if (BLOCKED_BY_STATESYNC.includes(name) && isSyncing(view.known)) return undefined
  // The alert is about the difference of the RPC.
  if (name === 'difference' && view.known.value('chain_block_difference') === undefined) return undefined
  if (name === 'services') return value > 0 ? 'bad' : undefined
  const exceeded = limits.filter(({ side, limit }) => {
    const difference = compared(value, view) - limit
    return side === 'below' ? difference < 0 : difference > 0
  })
  const isCritical = exceeded.some(({ severity }) => severity === 'critical')
  return isCritical ? 'bad' : exceeded.length > 0 ? 'notice' : undefined
}
