import { type DynamicConfigValue } from '@grafana/grafana-foundation-sdk/dashboard'
import { COLOUR, EVENT } from './colours.ts'

/** How a line is drawn; without dashes it is whole. */
export interface Look {
  readonly colour: string
  readonly dash?: readonly number[] | undefined
  /** Of an area: how much of it is filled, in percent. */
  readonly fill?: number
}

/** Lines that share a graph with limits have not the colours of limits. Yellow is in neither: it cannot be seen on white. */
export type Beside = 'limits' | 'nothing'

const CALM = ['#0072B2', COLOUR.good, EVENT, COLOUR.info]
const PALETTES: Readonly<Record<Beside, readonly string[]>> = {
  limits: CALM,
  nothing: ['#0072B2', COLOUR.warning, COLOUR.good, EVENT, COLOUR.info, COLOUR.critical],
}

const DASHES = [undefined, [10, 6], [2, 5], [16, 5, 2, 5]] as const

/** Of the first, second, … line: no two of the first 16 are the same. */
export const lookOf = (index: number, beside: Beside): Look => {
  const palette = PALETTES[beside]
  const colour = palette[index % palette.length] ?? COLOUR.unknown
  // From one round of the palette to the next each colour gets other dashes.
  return { colour, dash: dashOf((index % palette.length) + Math.floor(index / palette.length)) }
}

/** Of a line with a name of ours among lines that are named by a label. */
export const lookAmongNamed = (index: number): Look => ({
  colour: COLOUR.unknown,
  dash: dashOf(index),
})

/**
 * Looks of lines whose names nobody knows beforehand, as overrides by patterns: by the last sign of the name, and
 * by the digit before it, or else the first letter. So a node looks the same in every graph, and ten nodes that
 * are numbered in a row differ. Grafana's own palettes by name have red beside green, its safe one is behind a
 * switch in release 13 and unknown before, and of the shades of one colour some vanish on black, or on white.
 */
export const looksByName = (beside: Beside): readonly ByName[] => {
  const { length } = PALETTES[beside]
  return [
    ...PALETTES[beside].map((colour, index) => ({
      name: anyOf(LEADS.map((lead) => [lead, lastSigns(modulo(index - lead, length), length)])),
      properties: [{ id: 'color', value: { mode: 'fixed', fixedColor: colour } }],
    })),
    ...DASHES.map((dash, index) => ({
      name: anyOf(
        rounds(length).map((last, round) => [modulo(index - round, DASHES.length), last]),
      ),
      properties: [lineStyle(dash)],
    })),
  ]
}

interface ByName {
  /** A regular expression, as Grafana writes them. */
  readonly name: string
  readonly properties: DynamicConfigValue[]
}

export const propertiesOf = ({ colour, dash, fill }: Look): DynamicConfigValue[] => [
  { id: 'color', value: { mode: 'fixed', fixedColor: colour } },
  lineStyle(dash),
  ...(fill === undefined ? [] : [{ id: 'custom.fillOpacity', value: fill }]),
]

const dashOf = (index: number): readonly number[] | undefined => DASHES[index % DASHES.length]

const lineStyle = (dash: readonly number[] | undefined): DynamicConfigValue => ({
  id: 'custom.lineStyle',
  value: dash ? { fill: 'dash', dash } : { fill: 'solid' },
})

const DIGITS = Array.from('0123456789')
const LETTERS = Array.from('abcdefghijklmnopqrstuvwxyz')

/** What comes before the last sign, in as many classes as there are dashes. Nodes and validators have whole lines. */
const FIRST_LETTERS = ['bghnqvx', 'efiwy', 'acjmrst', 'dklopuz']
const LEADS = [0, 1, 2, 3]

/** A name up to its domain or port: `node-1` of `node-1.example.com`, and the whole of `bft: exit-code`. */
const HEAD = String.raw`(?:[^.:]|[.:]\s)*`
const DOMAIN_OR_PORT = String.raw`(?:[.:]\S.*)?`

type Class = readonly [lead: number, last: readonly string[]]

const anyOf = (classes: readonly Class[]): string => {
  const patterns = classes.map(([lead, last]) => `${leadPattern(lead)}[${last.join('')}]`)
  return `/^(?:${patterns.join('|')})${DOMAIN_OR_PORT}$/i`
}

/** A digit, or anything else, and then the first letter counts. */
const leadPattern = (index: number): string => {
  const digits = DIGITS.filter((_digit, place) => place % LEADS.length === index).join('')
  return String.raw`(?:${HEAD}[${digits}]|[${FIRST_LETTERS[index]}](?:${HEAD}\D)?)`
}

const lastSigns = (index: number, count: number): readonly string[] =>
  [...DIGITS, ...LETTERS].filter((_sign, place) => place % count === index)

/** Last digits in groups of as many as there are colours: those of the second group have the next dashes, … */
const rounds = (count: number): readonly (readonly string[])[] =>
  Array.from({ length: Math.ceil(DIGITS.length / count) }, (_, round) => {
    const last = DIGITS.slice(round * count, (round + 1) * count)
    return round === 0 ? [...last, ...LETTERS] : last
  })

const modulo = (value: number, divisor: number): number => (value + divisor) % divisor
