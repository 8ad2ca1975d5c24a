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
const LOOKS = ['light 360', 'dark 1280', 'light 1280', 'dark 360']
const isDrawing = process.env['DRAW_PAGES'] !== undefined
const IMAGES = 'docs/images'

/** The tests of one part of the scenarios: a file each, so that they run side by side. */
export const examinePages = ({ part, parts }: { readonly part: number; readonly parts: number }): void => {
  let browser: Browser
  // One page of each kind for all scenarios: opening one takes longer than looking at it.
  let light: Page
  let dark: Page
  let plain: Page
  let complaints: string[]
  beforeAll(async () => {
    browser = await openBrowser()
    light = await browser.newPage({ colorScheme: 'light' })
    dark = await browser.newPage({ colorScheme: 'dark' })
    plain = await browser.newPage({ javaScriptEnabled: false })
    complaints = complaintsOf(light, dark)
    if (isDrawing) await writeFile(`${IMAGES}/${PAGE_DRAWN}`, `${JSON.stringify(await markOfPage())}\n`)
  })
  afterAll(async () => browser.close())

  const scenarios = (isDrawing ? PICTURED : SCENARIOS).filter((_, index) => index % parts === part)
  describe.each(scenarios)('the status page in the scenario %s', (scenario) => {
    let host: Host
    let url: string
    beforeAll(async () => {
      host = await startHost({ scenario, second: SECOND })
      url = `http://127.0.0.1:${host.port}/`
      // Until the rules have been evaluated, and once more.
      for (let second = 0; second < 31; second += 1) await host.second()
    })
    afterAll(async () => {
      // No page asks for changes of a host that has ended.
      for (const page of [light, dark, plain]) await page.goto('about:blank')
      await host.close()
    })

    it.runIf(isDrawing)('is drawn', async () => {
      // One of them is shown in both.
      for (const [colorScheme, page] of Object.entries(scenario === PICTURED[0] ? { light, dark } : { light })) {
        await page.setViewportSize({ width: 1280, height: 960 })
        await page.goto(url)
        const picture = await page.screenshot({ animations: 'disabled' })
        expect(picture.length).toBeGreaterThan(10_000)
        await writeFile(`${IMAGES}/page-${scenario}-${colorScheme}.png`, picture)
      }
    })

    it('fits at each width in both colour schemes, and is accessible at one width in one scheme', async () => {
      // Another one in the next scenario: axe takes half of the time.
      const examined = LOOKS[SCENARIOS.indexOf(scenario) % LOOKS.length]
      for (const [colorScheme, page] of Object.entries({ light, dark })) {
        await page.goto(url)
        for (const width of [360, 1280]) {
          await page.setViewportSize({ width, height: 800 })
          expect([width, colorScheme, await overflowOf(page)]).toEqual([width, colorScheme, 0])
          if (examined !== `${colorScheme} ${width}`) continue
          expect([examined, await violationsIn(page)]).toEqual([examined, []])
          expect(await overflowOf(page)).toBe(0)
        }
      }
    })

    it('has the sentence of status', async () => {
      await light.goto(url)
      const sentence = (await textOf(light, 'h1')).replace(/^\S+ /, '')
      const { out } = await host.run(['status'])
      expect(sentence).toBe(out.split('\n')[0])
    })

    it('has the same content without JavaScript', async () => {
      const texts = []
      for (const page of [light, plain]) {
        await page.goto(url)
        texts.push((await textOf(page, 'main')).replaceAll(/ ?Copy\b/g, '').replaceAll(/ (?=\.)/g, ''))
      }
      expect(texts[0]).toBe(texts[1])
    })

    it('is silent', () => {
      expect(complaints.splice(0)).toEqual([])
    })
  })
}
