import type { Browser, Page } from 'playwright-core'
import type { Host } from '../support/host.ts'
import { complaintsOf, overflowOf, violationsIn } from '../page/browser.ts'

const WIDTHS = [360, 1280]
/** Each page is rendered in one colour scheme, because colours do not change widths, and axe examines it at one width. */
const EXAMINED = [
  { colorScheme: 'light', examined: 360 },
  { colorScheme: 'dark', examined: 1280 },
  { colorScheme: 'light', examined: 1280 },
  { colorScheme: 'dark', examined: 360 },
] as const

/** What Chromium makes of the status page in one scenario. */
export interface PageRecord {
  /** Width → by how many pixels the page is wider than the window, also with its details open. */
  readonly overflow: Readonly<Record<string, number>>
  /** What axe finds. */
  readonly violations: readonly string[]
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
  const page = await browser.newPage()
  const plain = await browser.newPage({ javaScriptEnabled: false })
  const complaints = complaintsOf(page)
  return async (host, turn) => {
    const { colorScheme, examined } = EXAMINED[turn % EXAMINED.length] ?? EXAMINED[0]
    await page.emulateMedia({ colorScheme })
    for (const one of [page, plain]) await one.goto(`http://127.0.0.1:${host.port}/`)
    const headline = (await textOf(page, 'h1')).replace(/^\S+ /, '')
    const text = comparable(await textOf(page, 'main'))
    const textWithoutJavaScript = comparable(await textOf(plain, 'main'))
    const overflow: Record<string, number> = {}
    const violations: string[] = []
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 })
      overflow[width] = await overflowOf(page)
      if (width !== examined) continue
      violations.push(...(await violationsIn(page)))
      overflow[`${width}, details open`] = await overflowOf(page)
    }
    // No page asks for changes of a host that has ended.
    for (const one of [page, plain]) await one.goto('about:blank')
    const [status] = (await host.run(['status'])).out.split('\n')
    return { overflow, violations, headline, status, text, textWithoutJavaScript, complaints: complaints.splice(0) }
  }
}

const textOf = async (page: Page, selector: string): Promise<string> =>
  (await page.locator(selector).allInnerTexts()).join(' ').replaceAll(/\s+/g, ' ').trim()

/** Without the buttons that only JavaScript adds. */
const comparable = (text: string): string => text.replaceAll(/ ?Copy\b/g, '').replaceAll(/ (?=\.)/g, '')
