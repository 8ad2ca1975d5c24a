import { readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Host, startHost } from '../support/host.ts'
import { requireRealPart } from '../support/real-parts.ts'
import { markOfPage, PAGE_DRAWN } from '../support/page-mark.ts'
import { complaintsOf, openBrowser, overflowOf, probeChromium, violationsIn } from './browser.ts'

const describe = await requireRealPart('Chromium', probeChromium)

const SCENARIOS = readdirSync('scenarios').map((file) => file.replace('.scenario', ''))
/** Every scenario has begun by then. */
const SECOND = 60

const textOf = async (page: Page, selector: string): Promise<string> =>
  (await page.locator(selector).allInnerTexts()).join(' ').replaceAll(/\s+/g, ' ').trim()

/** Those of docs/images, drawn with `npm run page:pictures`. */
const PICTURED = [
  'service-crash',
  'healthy',
  'stalled',
  'falling-behind',
  'statesync',
  'storage-filling',
  'references-down',
  'no-journal-permission',
]
const isDrawing = process.env['DRAW_PAGES'] !== undefined
const IMAGES = 'docs/images'

/** The tests of one part of the scenarios: a file each, so that they run side by side. */
export const examinePages = ({ part, parts }: { readonly part: number; readonly parts: number }): void => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
    if (isDrawing) await writeFile(`${IMAGES}/${PAGE_DRAWN}`, `${JSON.stringify(await markOfPage())}\n`)
  })
  afterAll(async () => browser.close())

  const scenarios = (isDrawing ? PICTURED : SCENARIOS).filter((_, index) => index % parts === part)
  describe.each(scenarios)('the status page in the scenario %s', (scenario) => {
    let host: Host
    beforeAll(async () => {
      host = await startHost({ scenario, second: SECOND })
      // Until the rules have been evaluated, and once more.
      for (let second = 0; second < 31; second += 1) await host.second()
    })
    afterAll(async () => host.close())

    it.runIf(isDrawing)('is drawn', async () => {
      // One of them is shown in both.
      for (const colorScheme of scenario === PICTURED[0] ? (['light', 'dark'] as const) : (['light'] as const)) {
        const page = await browser.newPage({ colorScheme, viewport: { width: 1280, height: 960 } })
        await page.goto(`http://127.0.0.1:${host.port}/`)
        const picture = await page.screenshot({ animations: 'disabled' })
        await page.close()
        expect(picture.length).toBeGreaterThan(10_000)
        await writeFile(`${IMAGES}/page-${scenario}-${colorScheme}.png`, picture)
      }
    })

    it('fits and is silent at each width and in both colour schemes, and is accessible in one scheme per width', async () => {
      // The other scheme in the next scenario: axe takes nearly all of the time.
      const isDarkWide = SCENARIOS.indexOf(scenario) % 4 < 2
      for (const colorScheme of ['light', 'dark'] as const) {
        const page = await browser.newPage({ colorScheme })
        const complaints = complaintsOf(page)
        for (const width of [360, 1280]) {
          await page.setViewportSize({ width, height: 800 })
          await page.goto(`http://127.0.0.1:${host.port}/`)
          expect([width, colorScheme, await overflowOf(page)]).toEqual([width, colorScheme, 0])
          if (((colorScheme === 'dark') !== (width === 1280)) === isDarkWide) continue
          expect([width, colorScheme, await violationsIn(page)]).toEqual([width, colorScheme, []])
          expect(await overflowOf(page)).toBe(0)
        }
        await page.close()
        expect(complaints).toEqual([])
      }
    })

    it('has the sentence of status', async () => {
      const page = await browser.newPage()
      await page.goto(`http://127.0.0.1:${host.port}/`)
      const sentence = (await textOf(page, 'h1')).replace(/^\S+ /, '')
      await page.close()
      const { out } = await host.run(['status'])
      expect(sentence).toBe(out.split('\n')[0])
    })

    it('has the same content without JavaScript', async () => {
      const [page, plain] = [
        await browser.newPage({ javaScriptEnabled: true }),
        await browser.newPage({ javaScriptEnabled: false }),
      ]
      const texts = []
      for (const one of [page, plain]) {
        await one.goto(`http://127.0.0.1:${host.port}/`)
        texts.push((await textOf(one, 'main')).replaceAll(/ ?Copy\b/g, '').replaceAll(/ (?=\.)/g, ''))
        await one.close()
      }
      expect(texts[0]).toBe(texts[1])
    })
  })
}
