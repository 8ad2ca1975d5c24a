import { type Finding, finding } from '../findings.ts'
import { type Dashboard, type Panel, panelsOf, titleOf } from '../model.ts'

/** WCAG AA for text of usual size. */
const LEAST = 4.5
/** Grafana writes white on a colour up to this brightness, and black on a brighter one. */
const BRIGHTEST = 180
const WHITE = [247, 248, 250] as const
const BLACK = [32, 34, 38] as const

type Rgb = readonly [red: number, green: number, blue: number]

/** Text on coloured areas must be readable: tiles, cells and states. */
export const lintContrast = (name: string, dashboard: Dashboard): readonly Finding[] =>
  panelsOf(dashboard).flatMap((panel) =>
    [...new Set(areasOf(panel))]
      .map((colour) => ({ colour, contrast: contrastOf(colour) }))
      .filter(({ contrast }) => contrast < LEAST)
      .map(({ colour, contrast }) =>
        finding(
          'contrast',
          `${name}, panel ${titleOf(panel)}`,
          `text on ${colour} has a contrast of ${contrast.toFixed(1)}; expected ${LEAST}`,
        ),
      ),
  )

/** The colours behind text. Without text on them, limits and lines have brighter ones. */
const areasOf = ({ type, options, fieldConfig }: Panel): readonly string[] => {
  const { thresholds, mappings = [] } = fieldConfig?.defaults ?? {}
  const overridden = (fieldConfig?.overrides ?? []).flatMap(({ properties }) =>
    properties.filter(({ id }) => id === 'thresholds' || id === 'mappings').map(({ value }) => value),
  )
  if (type === 'stat' && options?.['colorMode'] !== 'background_solid') return []
  if (type === 'stat') return coloursIn([thresholds, mappings, overridden])
  if (type === 'table' || type === 'state-timeline') return coloursIn([mappings, overridden])
  return []
}

const coloursIn = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return /^#[\dA-Fa-f]{6}$/.test(value) ? [value] : []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(coloursIn) : []
}

const contrastOf = (colour: string): number => {
  const rgb: Rgb = [byte(colour, 1), byte(colour, 3), byte(colour, 5)]
  const [red, green, blue] = rgb
  const text = (299 * red + 587 * green + 114 * blue) / 1000 > BRIGHTEST ? BLACK : WHITE
  const [low = 0, high = 0] = [luminance(rgb), luminance(text)].toSorted((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

const byte = (colour: string, at: number): number => Number.parseInt(colour.slice(at, at + 2), 16)

/** Relative luminance, as WCAG 2 defines it. */
const luminance = (rgb: Rgb): number => {
  const [red = 0, green = 0, blue = 0] = rgb.map((part) => {
    const share = part / 255
    return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
