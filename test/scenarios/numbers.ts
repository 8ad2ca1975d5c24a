import { z } from 'zod'
import { day, hour, minute, second } from '../../src/core/units.ts'

/** What a surface says a number is; null is unknown. `within` is how exactly it is printed, or how old it may be. */
interface Stated {
  readonly value: number | null
  readonly within: number
  /** Of a reading some seconds before, as metrics are: it is compared with a number that is known. */
  readonly isSampled?: true
}

/** Numbers by name; two surfaces with the same name mean the same. Times in milliseconds. */
export type Numbers = Readonly<Record<string, Stated>>

const exact = (value: number | null | undefined, within = 0): Stated => ({ value: value ?? null, within })

/** Blocks that pass between two readings of a collector. */
const SAMPLED_BLOCKS = 30

const sampled = (value: number | null): Stated => ({ value, within: SAMPLED_BLOCKS, isSampled: true })

const UNITS: Readonly<Record<string, number>> = { d: day, h: hour, min: minute, s: second }

/** `16 min 10 s`; two units are printed, rounded down. */
const durationIn = (text: string | undefined): Stated => {
  const parts = [...(text ?? '').matchAll(/(\d+) (d|h|min|s)\b/g)].map(([, amount, unit = '']) => ({
    ms: Number(amount) * (UNITS[unit] ?? Number.NaN),
    unit: UNITS[unit] ?? 0,
  }))
  const [first] = parts
  if (!first) return exact(null)
  // The second unit is left out where it is 0.
  const smallest = first.unit === day ? hour : first.unit === hour ? minute : second
  return { value: parts.reduce((sum, { ms }) => sum + ms, 0), within: smallest }
}

const after = (at: string, { value, within }: Stated): Stated => ({
  value: value === null ? null : Date.parse(at) + value,
  within,
})

const numberIn = (text: string | null | undefined, pattern: RegExp, within = 0): Stated => {
  const found = pattern.exec(text ?? '')?.[1]?.replaceAll(',', '')
  return exact(found === undefined ? null : Number(found), within)
}

const timeOrNull = z.iso
  .datetime()
  .nullish()
  .transform((text) => (typeof text === 'string' ? Date.parse(text) : null))
const numberOrNull = z.number().nullish()
const heightOrNull = z.union([z.string(), z.number()]).nullish()
const cost = z.object({ rounds: numberOrNull }).nullish()

const overview = z.object({
  at: z.string(),
  recovery: z.object({ left: z.string().nullable() }),
  figures: z.array(z.object({ name: z.string(), value: z.string().nullable() })),
  sections: z.array(
    z.object({
      name: z.string(),
      groups: z.array(z.object({ facts: z.array(z.object({ label: z.string(), value: z.unknown() })) })),
    }),
  ),
})

/** The page and the API: key figures, and facts of its sections. */
export const numbersOfPage = (text: string): Numbers => {
  const { at, figures, sections, recovery } = overview.parse(JSON.parse(text))
  const figure = (name: string) => figures.find((one) => one.name === name)?.value
  const fact = (section: string, label: string): unknown =>
    sections
      .find(({ name }) => name === section)
      ?.groups.flatMap(({ facts }) => facts)
      .find((one) => one.label === label)?.value
  const window = figure('window')
  return {
    'epoch, expected': exact(timeOrNull.parse(fact('staking', 'epoch end, expected'))),
    'epoch, latest': exact(timeOrNull.parse(fact('staking', 'next epoch, latest'))),
    'window, blocks': numberIn(window, /^([\d,]+) block/),
    'window, time': durationIn(window?.split(', ')[1]),
    rate: numberIn(figure('rate'), /^([\d.]+)/, 0.005),
    difference: numberIn(figure('difference'), /^(\d[\d,]*) blocks?$/),
    'own rounds, cost': exact(cost.parse(fact('restart', 'own rounds'))?.rounds),
    'own rounds, missed': exact(numberOrNull.parse(fact('duties', 'own timeouts'))),
    deadline: after(at, durationIn(recovery.left ?? undefined)),
  }
}

const status = z.object({
  sections: z.object({
    chain: z.object({
      blockDifference: numberOrNull,
      blocksPerSecond: numberOrNull,
      blockNumber: heightOrNull,
      blocksyncWindow: z.object({ remainingBlocks: numberOrNull, remainingSeconds: numberOrNull }),
    }),
    staking: z.object({ boundaryAt: timeOrNull, nextEpochAt: timeOrNull }),
    duties: z.object({ ownTimeouts: numberOrNull }),
    restart: z.object({ ownRounds: cost }),
  }),
})

export const numbersOfStatus = (text: string): Numbers => {
  const { chain, staking, duties, restart } = status.parse(JSON.parse(text)).sections
  const { blockDifference: difference, blocksyncWindow: left } = chain
  const seconds = left.remainingSeconds ?? null
  return {
    'epoch, expected': exact(staking.boundaryAt),
    'epoch, latest': exact(staking.nextEpochAt),
    'window, blocks': exact(left.remainingBlocks),
    'window, time': exact(seconds === null ? null : seconds * second, second),
    rate: exact(chain.blocksPerSecond, 0.005),
    // Ahead is not shown as a number.
    ...(typeof difference === 'number' && difference < 0 ? {} : { difference: exact(difference) }),
    'own height': exact(chain.blockNumber === null ? null : Number(chain.blockNumber)),
    'own rounds, cost': exact(restart.ownRounds?.rounds),
    'own rounds, missed': exact(duties.ownTimeouts),
  }
}

/** Both times of the end of the epoch in a sentence; one that has passed is not printed. */
const epochIn = (at: string, text: string | undefined): Numbers => ({
  ...(text?.includes(' ends in about ') && {
    'epoch, expected': after(at, durationIn(/ ends in about ([^;,]+)/.exec(text)?.[1])),
  }),
  ...(text?.includes(' at the latest') && {
    'epoch, latest': after(at, durationIn(/ starts in ([^;,]+) at the latest/.exec(text)?.[1])),
  }),
})

const recover = z.object({
  at: z.string(),
  left: z.string().nullable(),
  why: z.array(z.string()),
  restart: z.object({ summary: z.string() }).nullable(),
})

export const numbersOfRecover = (text: string): Numbers => {
  const { at, left, why, restart } = recover.parse(JSON.parse(text))
  const window = why.find((one) => one.includes('blocksync window') && one.includes(' left, '))
  const behind = why.find((one) => one.includes('by the height that the references agree on'))
  return {
    ...epochIn(
      at,
      why.find((one) => one.startsWith('Epoch: ')),
    ),
    ...(window !== undefined && {
      'window, blocks': numberIn(window, /: ([\d,]+) blocks? (?:is|are) left/),
      'window, time': durationIn(/ left, ([^,.]+)/.exec(window)?.[1]),
    }),
    ...(behind !== undefined && {
      difference: sampled(
        numberIn(behind, /(?:its RPC|The node) is (?:at least )?([\d,]+) blocks? behind(?!.*its RPC)/).value,
      ),
    }),
    ...(restart?.summary.startsWith('safe') && {
      'own rounds, cost': numberIn(`${restart.summary}; costs about 0 `, /costs about ([\d.]+) /),
    }),
    deadline: after(at, durationIn(left ?? undefined)),
  }
}

const window = z.object({
  at: z.string(),
  checks: z.array(z.object({ name: z.string(), summary: z.string() })),
  ownRounds: cost,
})

export const numbersOfRestartWindow = (text: string): Numbers => {
  const { at, checks, ownRounds } = window.parse(JSON.parse(text))
  const of = (check: string) => checks.find(({ name }) => name === check)?.summary
  const blocksync = of('blocksync')
  return {
    ...epochIn(at, of('epoch')),
    ...(blocksync !== undefined && { 'window, blocks': numberIn(blocksync, /can catch up with ([\d,]+)/) }),
    'own rounds, cost': exact(ownRounds?.rounds),
  }
}

export const numbersOfMetrics = (text: string): Numbers => {
  const value = (series: string): number | null => {
    const line = text.split('\n').find((one) => one.startsWith(`${series} `))
    return line === undefined ? null : Number(line.slice(series.length + 1))
  }
  const time = (name: string): number | null => {
    const seconds = value(name)
    return seconds === null ? null : seconds * second
  }
  const difference = value('chain_block_difference')
  return {
    // Without the RPC they are absent, and the page has the times by the ledger stream.
    ...(time('chain_staking_boundary_timestamp_seconds') !== null && {
      'epoch, expected': exact(time('chain_staking_boundary_timestamp_seconds')),
      'epoch, latest': exact(time('chain_staking_next_epoch_timestamp_seconds')),
    }),
    'window, blocks': sampled(value('chain_blocksync_window_remaining_blocks')),
    rate: exact(value('chain_blocks_per_second'), 0.005),
    // Ahead is not shown as a number, and without the RPC it is the difference of the state.
    ...(difference !== null && difference >= 0 && { difference: exact(difference) }),
    'own height': sampled(value('chain_rpc_block_number{tag="latest"}')),
    'own rounds, missed': exact(value('chain_duty_slots{result="timeout"}')),
    deadline: exact(time('chain_node_recovery_deadline_timestamp_seconds'), 15 * second),
  }
}

/** What may change between two requests in addition to what differs between the first and the last one. */
const ALLOWED: Readonly<Record<string, number>> = {
  'epoch, expected': second,
  'epoch, latest': second,
  'window, blocks': 3,
  'window, time': 2 * second,
  difference: 3,
  'own height': 10,
  'own rounds, cost': 1,
  deadline: 2 * second,
}

interface Surface {
  readonly name: string
  readonly numbers: Numbers
}

/** The numbers of surfaces that are not between those of the bounds, by name; the first and the last request are the bounds. */
export const numbersThatDiffer = (bounds: readonly Numbers[], surfaces: readonly Surface[]): readonly string[] =>
  surfaces.flatMap(({ name, numbers }) =>
    Object.entries(numbers).flatMap(([number, { value, within, isSampled = false }]) => {
      const known = bounds.flatMap((one) => one[number] ?? [])
      const values = known.flatMap((one) => one.value ?? [])
      const isUnknown = known.some((one) => one.value === null)
      const margin = within + (ALLOWED[number] ?? 0) + Math.max(0, ...known.map((one) => one.within))
      const isSame =
        known.length === 0 ||
        (isSampled && (value === null || values.length === 0)) ||
        (value === null
          ? isUnknown
          : values.length > 0 && value >= Math.min(...values) - margin && value <= Math.max(...values) + margin)
      return isSame ? [] : [`${name}: ${number} ${value}, page: ${known.map((one) => one.value).join(' and ')}`]
    }),
  )
