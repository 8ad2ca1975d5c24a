import type { Browser, Page } from 'playwright-core'
import type { Host } from '../support/host.ts'
import { complaintsOf, overflowOf, violationsIn } from '../page/browser.ts'

const WIDTHS = [360, 1280]
/** axe takes half of the time, so that it examines each scenario in one of these. */
const EXAMINED = ['light 360', 'dark 1280', 'light 1280', 'dark 360']

/** What Chromium makes of the status page in one scenario. */
export interface PageRecord {
  /** Colour scheme and width → by how many pixels the page is wider than the window, also with its details open. */
  readonly overflow: Readonly<Record<string, number>>
  /** What axe finds, by the colour scheme and width in which it examined the page. */
  readonly violations: Readonly<Record<string, readonly string[]>>
  readonly headline: string
  /** The first line of `chain-agent status` at the same moment. */
  readonly status: string | undefined
  readonly text: string
  readonly textWithoutJavaScript: string
  /** Console messages, uncaught errors, blocked resources and failed requests. */
  readonly complaints: readonly string[]
}

/** `turn` is the number of the scenario: each of four in a row is examined at another width or in another scheme. */
export type PageRecorder = (host: Host, turn: number) => Promise<PageRecord>

/** Opens one page of each kind for all scenarios: opening one takes longer than looking at it. */
export const createPageRecorder = async (browser: Browser): Promise<PageRecorder> => {
  const light = await browser.newPage({ colorScheme: 'light' })
  const dark = await browser.newPage({ colorScheme: 'dark' })
  const plain = await browser.newPage({ javaScriptEnabled: false })
  const complaints = complaintsOf(light, dark)
  return async (host, turn) => {
    const url = `http://127.0.0.1:${host.port}/`
    for (const page of [light, dark, plain]) await page.goto(url)
    const headline = (await textOf(light, 'h1')).replace(/^\S+ /, '')
    const text = comparable(await textOf(light, 'main'))
    const textWithoutJavaScript = comparable(await textOf(plain, 'main'))
    const overflow: Record<string, number> = {}
    const violations: Record<string, readonly string[]> = {}
    for (const [colorScheme, page] of Object.entries({ light, dark })) {
      for (const width of WIDTHS) {
        const look = `${colorScheme} ${width}`
        await page.setViewportSize({ width, height: 800 })
        overflow[look] = await overflowOf(page)
        if (look !== EXAMINED[turn % EXAMINED.length]) continue
        violations[look] = await violationsIn(page)
        overflow[`${look}, details open`] = await overflowOf(page)
      }
    }
    // No page asks for changes of a host that has ended.
    for (const page of [light, dark, plain]) await page.goto('about:blank')
    const [status] = (await host.run(['status'])).out.split('\n')
    return { overflow, violations, headline, status, text, textWithoutJavaScript, complaints: complaints.splice(0) }
  }
}

const textOf = async (page: Page, selector: string): Promise<string> =>
  (await page.locator(selector).allInnerTexts()).join(' ').replaceAll(/\s+/g, ' ').trim()

/** Without the buttons that only JavaScript adds. */
const comparable = (text: string): string => text.replaceAll(/ ?Copy\b/g, '').replaceAll(/ (?=\.)/g, '')
