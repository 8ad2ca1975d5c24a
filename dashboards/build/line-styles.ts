import { type DynamicConfigValue } from '@grafana/grafana-foundation-sdk/dashboard'
import { COLOUR, EVENT } from './colours.ts'

/** How a line is drawn; solid without dashes. */
export interface LineStyle {
  readonly colour: string
  readonly dash?: readonly number[] | undefined
  /** Opacity of the area in percent. */
  readonly fill?: number
}

/** Lines in a graph with limits do not have the colours of limits. Yellow is in neither palette: it is invisible on white. */
export type AvoidedColours = 'limits' | 'nothing'

const CALM = ['#0072B2', COLOUR.good, EVENT, COLOUR.info]
const PALETTES: Readonly<Record<AvoidedColours, readonly string[]>> = {
  limits: CALM,
  nothing: ['#0072B2', COLOUR.warning, COLOUR.good, EVENT, COLOUR.info, COLOUR.critical],
}

const DASHES = [undefined, [10, 6], [2, 5], [16, 5, 2, 5]] as const

/** Style of the line with this index: the first 16 are all different. */
export const lineStyleOf = (index: number, avoided: AvoidedColours): LineStyle => {
  const palette = PALETTES[avoided]
  const colour = palette[index % palette.length] ?? COLOUR.unknown
  // Each repetition of the palette has other dashes.
  return { colour, dash: dashOf((index % palette.length) + Math.floor(index / palette.length)) }
}

/** Style of a line with a fixed name among lines that are named by a label. */
export const namedLineStyle = (index: number): LineStyle => ({ colour: COLOUR.unknown, dash: dashOf(index) })

/**
 * Styles of lines whose names are not known in advance, as overrides by patterns: by the last character of the name,
 * and by the digit before it or else the first letter. So a node has the same style in every graph, and ten
 * consecutively numbered nodes differ. Grafana's own palettes by name have red next to green, its accessible one is
 * behind a feature flag in release 13 and missing before, and some shades of one colour are invisible on black or
 * white.
 */
export const lineStylesByName = (avoided: AvoidedColours): readonly ByName[] => {
  const { length } = PALETTES[avoided]
  return [
    ...PALETTES[avoided].map((colour, index) => ({
      name: anyOf(LEADS.map((lead) => [lead, lastSigns(modulo(index - lead, length), length)])),
      properties: [{ id: 'color', value: { mode: 'fixed', fixedColor: colour } }],
    })),
    // Lines are solid by default.
    ...DASHES.flatMap((dash, index) =>
      dash
        ? [
            {
              name: anyOf(rounds(length).map((last, round) => [modulo(index - round, DASHES.length), last])),
              properties: lineStyle(dash),
            },
          ]
        : [],
    ),
  ]
}

interface ByName {
  /** A regular expression in Grafana's syntax. */
  readonly name: string
  readonly properties: DynamicConfigValue[]
}

export const propertiesOf = ({ colour, dash, fill }: LineStyle): DynamicConfigValue[] => [
  { id: 'color', value: { mode: 'fixed', fixedColor: colour } },
  ...lineStyle(dash),
  ...(fill === undefined ? [] : [{ id: 'custom.fillOpacity', value: fill }]),
]

const dashOf = (index: number): readonly number[] | undefined => DASHES[index % DASHES.length]

const lineStyle = (dash: readonly number[] | undefined): DynamicConfigValue[] =>
  dash ? [{ id: 'custom.lineStyle', value: { fill: 'dash', dash } }] : []

const DIGITS = Array.from('0123456789')
const LETTERS = Array.from('abcdefghijklmnopqrstuvwxyz')

/** Classes of the character before the last one, one for each dash pattern. Nodes and validators have solid lines. */
const FIRST_LETTERS = ['bghnqvx', 'efiwy', 'acjmrst', 'dklopuz']
const LEADS = [0, 1, 2, 3]

/** A name up to its domain or port: `node-1` of `node-1.example.com`, and all of `bft: exit-code`. */
const HEAD = String.raw`(?:[^.:]|[.:]\s)*`
const DOMAIN_OR_PORT = String.raw`(?:[.:]\S.*)?`

type Class = readonly [lead: number, last: readonly string[]]

const anyOf = (classes: readonly Class[]): string => {
  const patterns = classes.map(([lead, last]) => `${leadPattern(lead)}[${last.join('')}]`)
  return `/^(?:${patterns.join('|')})${DOMAIN_OR_PORT}$/i`
}

/** A digit; for any other character the first letter counts. */
const leadPattern = (index: number): string => {
  const digits = DIGITS.filter((_digit, place) => place % LEADS.length === index).join('')
  return String.raw`(?:${HEAD}[${digits}]|[${FIRST_LETTERS[index]}](?:${HEAD}\D)?)`
}

const lastSigns = (index: number, count: number): readonly string[] =>
  [...DIGITS, ...LETTERS].filter((_sign, place) => place % count === index)

/** Last digits in groups of the size of the palette: each group has the next dashes. */
const rounds = (count: number): readonly (readonly string[])[] =>
  Array.from({ length: Math.ceil(DIGITS.length / count) }, (_, round) => {
    const last = DIGITS.slice(round * count, (round + 1) * count)
    return round === 0 ? [...last, ...LETTERS] : last
  })

const modulo = (value: number, divisor: number): number => (value + divisor) % divisor
