import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { beginning, cut } from '../../dashboards/render/tool/cut.ts'
import { DOCUMENTED, DRAWN, markOf } from '../../dashboards/render/tool/drawn.ts'
import { committed } from '../dashboards/model.ts'
import { markOfPage, PAGE_DRAWN } from '../support/page-mark.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const IMAGES = 'docs/images'
const files = readdirSync(join(ROOT, IMAGES)).filter((file) => file !== DRAWN && file !== PAGE_DRAWN)

const panel = (type: string, y: number, h: number) => ({ type, gridPos: { x: 0, y, w: 24, h } })

describe('a dashboard is cut into pictures', () => {
  const first = [panel('row', 0, 1), panel('stat', 1, 69)]
  const second = [panel('row', 70, 1), panel('table', 71, 39)]
  const third = [panel('row', 110, 1), panel('table', 111, 9)]

  test('whole where it is not too long', () => {
    expect(cut([...first, ...second])).toEqual([[...first, ...second]])
  })

  test('else before a row, and each part begins at the top', () => {
    expect(cut([...first, ...second, ...third])).toEqual([
      [...first, ...second],
      [panel('row', 0, 1), panel('table', 1, 9)],
    ])
  })

  test('its beginning is what ends within a screen', () => {
    const seen = [panel('row', 0, 1), panel('stat', 1, 21)]
    expect(beginning([...seen, panel('table', 2, 21)])).toEqual(seen)
  })
})

describe.each(['README.md', 'docs/reference/dashboards.md', 'docs/reference/status-page.md'])('%s', (page) => {
  const text = readFileSync(join(ROOT, page), 'utf8')
  const shown = [...text.matchAll(/(?:srcset|src)="(?:docs\/|\.\.\/)?images\/([^"]+)"/g)].map(([, file = '']) => file)

  test('shows pictures that there are, each dark and light', () => {
    expect(shown.length).toBeGreaterThan(0)
    expect(shown.filter((file) => !files.includes(file))).toEqual([])
    for (const file of shown.filter((name) => name.includes('-dark')))
      expect(shown).toContain(file.replace('-dark', '-light'))
  })
})

test.each(files)('%s is small enough for a page', (file) => {
  expect(statSync(join(ROOT, IMAGES, file)).size).toBeLessThan(500_000)
})

describe('a picture is of its dashboard as it is', () => {
  const marks = z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(join(ROOT, IMAGES, DRAWN), 'utf8')))

  test.each([...committed()].filter(([name]) => DOCUMENTED.includes(name)))('%s', (name, json) => {
    expect(marks[name], 'drawn of another dashboard: npm run dashboards:pictures').toBe(markOf(json))
  })

  const drawn = {
    title: 'Sessions',
    type: 'stat',
    gridPos: { x: 0, y: 0, w: 4, h: 4 },
    description: 'Few is bad.',
    fieldConfig: { defaults: { thresholds: { steps: [{ value: 5, color: 'red' }] } } },
  }
  const mark = (change: object): string => markOf({ panels: [{ ...drawn, ...change }] })

  test('limits and descriptions may change', () => {
    const thresholds = { steps: [{ value: 6, color: 'red' }] }
    expect(mark({ fieldConfig: { defaults: { thresholds } } })).toBe(mark({}))
    expect(mark({ description: 'Few are bad.' })).toBe(mark({}))
  })

  test.each([
    { title: 'Peers' },
    { type: 'table' },
    { gridPos: { x: 4, y: 0, w: 4, h: 4 } },
    { gridPos: { x: 0, y: 0, w: 4, h: 8 } },
  ])('others than %j are drawn again', (change) => {
    expect(mark(change)).not.toBe(mark({}))
  })
})

test('the pictures of the status page are of the page as it is', async () => {
  const drawn: unknown = JSON.parse(readFileSync(join(ROOT, IMAGES, PAGE_DRAWN), 'utf8'))
  expect(drawn, 'drawn of another page: npm run page:pictures').toBe(await markOfPage())
})
