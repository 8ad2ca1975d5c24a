import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { DOCUMENTED, DRAWN, markOf } from '../../dashboards/render/tool/drawn.ts'
import { committed } from '../dashboards/model.ts'
import { markOfPage, PAGE_DRAWN } from '../support/page-mark.ts'

const IMAGES = fileURLToPath(new URL('../../docs/images', import.meta.url))
const files = readdirSync(IMAGES).filter((file) => file !== DRAWN && file !== PAGE_DRAWN)
const read = (file: string): unknown => JSON.parse(readFileSync(join(IMAGES, file), 'utf8'))

test.each(files)('%s is small enough for a page, and a dark one has a light one', (file) => {
  expect(statSync(join(IMAGES, file)).size).toBeLessThan(500_000)
  expect(files).toContain(file.replace('-dark', '-light'))
})

const marks = z.record(z.string(), z.string()).parse(read(DRAWN))
test.each([...committed()].filter(([name]) => DOCUMENTED.includes(name)))(
  'the picture of %s shows it',
  (name, json) => {
    expect(marks[name], 'drawn of another dashboard: npm run dashboards:pictures').toBe(markOf(json))
  },
)

test('the pictures of the status page are of the page as it is', async () => {
  expect(read(PAGE_DRAWN), 'drawn of another page: npm run page:pictures').toBe(await markOfPage())
})
