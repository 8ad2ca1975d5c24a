import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')

const font = z
  .object({ unitsPerEm: z.number(), regular: z.array(z.number()), bold: z.array(z.number()), mono: z.number() })
  .parse(JSON.parse(read('fixtures/dejavu-widths.json')))

interface Box {
  readonly kind: string
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

interface Text extends Box {
  readonly text: string
  readonly x: number
  readonly y: number
}

const attribute = (tag: string, name: string): string => new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? ''

const number = (tag: string, name: string): number => Number(attribute(tag, name))

const tags = (svg: string, name: string): readonly string[] => svg.match(new RegExp(`<${name} [^>]*>`, 'g')) ?? []

const boxesIn = (svg: string): readonly Box[] =>
  tags(svg, 'rect').map((tag) => {
    const [left, top] = [number(tag, 'x'), number(tag, 'y')]
    const [right, bottom] = [left + number(tag, 'width'), top + number(tag, 'height')]
    return { kind: attribute(tag, 'class'), left, top, right, bottom }
  })

/** In pixels, from the advance widths of DejaVu; a sign beyond ASCII counts as an em. */
const widthOf = (text: string, kind: string): number => {
  if (kind === '') return ([...text].length * font.mono * 14) / font.unitsPerEm
  const table = kind === 'name' ? font.bold : font.regular
  const units = [...text].reduce((sum, sign) => sum + (table[(sign.codePointAt(0) ?? 0) - 32] ?? font.unitsPerEm), 0)
  return (units * (kind === 'name' ? 14 : 12)) / font.unitsPerEm
}

/** DejaVu's ascent and descent are 0.93 and 0.24 of an em; letters here need 0.76 and 0.24. */
const textsIn = (svg: string): readonly Text[] =>
  [...svg.matchAll(/(<text [^>]*>)(.*?)<\/text>/g)].map(([, tag = '', inner = '']) => {
    const text = inner
      .replaceAll(/<[^>]*>/g, '')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&')
    const kind = attribute(tag, 'class')
    const [x, y, width] = [number(tag, 'x'), number(tag, 'y'), widthOf(text, kind)]
    const em = kind === 'name' || kind === '' ? 14 : 12
    const left = attribute(tag, 'text-anchor') === 'middle' ? x - width / 2 : x
    const [right, top, bottom] = [left + width, y - 0.76 * em, y + 0.24 * em]
    return { text, kind, x, y, left, right, top, bottom }
  })

/** The smallest box in which a text begins. */
const boxAround = ({ x, y }: Text, boxes: readonly Box[]): Box | undefined =>
  boxes
    .filter((box) => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom)
    .toSorted((a, b) => a.right - a.left - (b.right - b.left))[0]

const overlap = (a: Omit<Box, 'kind'>, b: Omit<Box, 'kind'>): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom

/** The four edges of a box as boxes of no width. */
const edgesOf = ({ left, top, right, bottom }: Box): readonly Omit<Box, 'kind'>[] => [
  { left, top, right, bottom: top },
  { left, top: bottom, right, bottom },
  { left, top, right: left, bottom },
  { left: right, top, right, bottom },
]

const MARGIN = 6

describe.each(['overview', 'query-service', 'terminal'])('docs/images/%s.svg', (name) => {
  const svg = read(`../docs/images/${name}.svg`)
  const [boxes, texts] = [boxesIn(svg), textsIn(svg)]

  test('every text is inside its box', () => {
    expect(texts.length).toBeGreaterThan(10)
    const outside = texts
      .filter(({ kind }) => kind !== 'label')
      .filter((text) => {
        const box = boxAround(text, boxes)
        return !box || text.right > box.right - MARGIN || text.bottom > box.bottom - MARGIN
      })
    expect(outside.map(({ text }) => text)).toEqual([])
  })

  test('no label touches an arrow, a border or another text', () => {
    const arrows = tags(svg, 'line').map((tag) => {
      const [x1, x2, y1, y2] = [number(tag, 'x1'), number(tag, 'x2'), number(tag, 'y1'), number(tag, 'y2')]
      // Arrows are horizontal or vertical; the line is 1.5 wide.
      const [left, right] = [Math.min(x1, x2) - 1, Math.max(x1, x2) + 1]
      return { left, right, top: Math.min(y1, y2) - 1, bottom: Math.max(y1, y2) + 1 }
    })
    const labels = texts.filter(({ kind }) => kind === 'label')
    expect(labels).toHaveLength(arrows.length)
    const touching = labels.filter(
      (label) =>
        [...arrows, ...boxes.flatMap(edgesOf)].some((one) => overlap(label, one)) ||
        texts.some((other) => other !== label && overlap(label, other)),
    )
    expect(touching.map(({ text }) => text)).toEqual([])
  })
})

test('the terminal shows neither a missing agent nor a directory of the machine that drew it', () => {
  const text = textsIn(read('../docs/images/terminal.svg'))
    .map((line) => line.text)
    .join('\n')
  expect(text).toContain('CRITICAL: bft is down')
  expect(text).not.toMatch(/No agent|127\.0\.0\.1|\/tmp\//)
})
