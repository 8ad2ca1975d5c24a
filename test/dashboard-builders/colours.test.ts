import { expect, it } from 'vitest'
import { COLOUR, fillOf } from '../../dashboards/build/colours.ts'

/** What Grafana writes on a dark colour. */
const WHITE = '#F7F8FA'

/** Relative luminance, as WCAG 2 defines it. */
const luminance = (colour: string): number =>
  [0.2126, 0.7152, 0.0722].reduce((sum, weight, index) => {
    const share = Number.parseInt(colour.slice(1 + 2 * index, 3 + 2 * index), 16) / 255
    return sum + weight * (share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4)
  }, 0)

it.each(Object.values(COLOUR))('text is readable on the area of %s', (colour) => {
  const contrast = (luminance(WHITE) + 0.05) / (luminance(fillOf(colour)) + 0.05)
  // WCAG AA for text of usual size.
  expect(contrast).toBeGreaterThanOrEqual(4.5)
})
