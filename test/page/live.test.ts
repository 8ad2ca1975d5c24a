import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { NO_WEB_CONFIG } from '../../src/config/web-config.ts'
import type { Event } from '../../src/domain/event.ts'
import { createSampleIndex, sample } from '../../src/core/metric.ts'
import type { ListeningServer } from '../../src/exporter/listen.ts'
import { agentView, findingOf, overviewInput, statusPageOf } from '../support/agent-view.ts'
import { eventually } from '../support/eventually.ts'
import { servedStore } from '../support/memory-store.ts'
import { startQueryService } from '../support/query-service.ts'
import { startRpcNode } from '../support/rpc-node.ts'
import { freePort } from '../support/free-port.ts'
import { requireRealPart } from '../support/real-parts.ts'
import { complaintsOf, openBrowser, overflowOf, probeChromium, violationsIn } from './browser.ts'
import { shipped } from '../support/shipped.ts'

const { createWeb, serve } = shipped

const describe = await requireRealPart('Chromium', probeChromium)
const web = createWeb({ config: NO_WEB_CONFIG, hosts: [], complain: () => undefined })

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(async () => browser.close())

const HOSTILE = `<script>document.title = 'owned'</script><img src=x onerror="document.title='owned'"> \u001b[31mred \u202eכותרת ${'x'.repeat(1_048_576)}`

/** A server in real time, whose page shows a height and, if it has any, a hostile log line. */
const round = { leader: `02${'ab'.repeat(32)}`, at: Date.UTC(2026, 2, 1, 12) }
const ROUNDS = [
  { ...round, round: 10n, state: 'finalized', isOwn: false },
  { ...round, round: 11n, state: 'timed out', isOwn: true },
  { ...round, round: 12n, state: 'proposed', isOwn: false },
] as const

const createAgent = async (hostile = '') => {
  const node = { height: 100 }
  const events: readonly Event[] = [
    { id: 1, at: 0, collector: 'logs', subject: hostile, from: hostile, to: hostile, severity: 'warning' },
  ]
  const page = statusPageOf({
    read: () =>
      Promise.resolve(
        overviewInput(
          {
            at: Date.now(),
            collectors: [
              { name: 'ledger', help: '', enabled: true, up: true, lastSuccessAt: null, error: null, hasReading: true },
            ],
            known: createSampleIndex([
              sample('chain_rpc_block_number', node.height, { tag: 'latest' }),
              sample('chain_rpc_block_timestamp_seconds', Date.now() / 1000, { tag: 'latest' }),
            ]),
            health: {
              state: 'critical',
              since: Date.now(),
              unknownBecause: null,
              failures: [],
              findings: [
                findingOf({
                  alert: 'ChainLogTrouble',
                  component: 'logs',
                  since: Date.now() - 60_000,
                  description: `It is: ${hostile}`,
                  advice: ['Run `chain-agent logs`.'],
                }),
              ],
            },
          },
          { events, rounds: ROUNDS },
        ),
      ),
  })
  const port = await freePort()
  let server: ListeningServer | undefined
  const start = async (): Promise<void> => {
    server = await serve(agentView({ page, events: () => Promise.resolve(events) }), { host: '127.0.0.1', port }, web)
  }
  await start()
  onTestFinished(async () => server?.close())
  return {
    node,
    url: `http://127.0.0.1:${port}/`,
    start,
    stop: async () => server?.close(),
  }
}

const openPage = async (options?: BrowserContextOptions): Promise<Page> => {
  const page = await browser.newPage(options)
  onTestFinished(() => page.close())
  return page
}

const textOf = async (page: Page, selector: string): Promise<string> => page.locator(selector).innerText()

/** Of a page in light and dark, narrow and wide. */
const expectAccessible = async (url: string): Promise<void> => {
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await openPage({ colorScheme })
    const complaints = complaintsOf(page)
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      await page.goto(url)
      expect([width, await overflowOf(page)]).toEqual([width, 0])
      expect([width, await violationsIn(page)]).toEqual([width, []])
    }
    expect(complaints).toEqual([])
  }
}

describe('the status page in a browser', () => {
  it('names the round under the pointer, and the one that is tapped', async () => {
    const agent = await createAgent()
    const page = await openPage({ viewport: { width: 390, height: 844 }, hasTouch: true })
    await page.goto(agent.url)
    const strip = page.locator('svg.rounds')
    const box = await strip.boundingBox()
    // No round since 2026-03-01: 40 of the 120 columns are silent, and the rounds are the three before them.
    const at = (column: number) => ({ x: ((column + 0.5) / 120) * (box?.width ?? 0), y: 20 })
    await strip.hover({ position: at(78) })
    expect(await textOf(page, '.tip')).toBe('Round 11: timed out, led by this node, 2026-03-01T12:00:00Z')
    await strip.tap({ position: at(79) })
    expect(await textOf(page, '.tip')).toBe('Round 12: proposed, led by 02ab..abab, 2026-03-01T12:00:00Z')
    await strip.hover({ position: at(10) })
    expect(await textOf(page, '.tip')).toBe('')
  })
  it('follows changes, keeps focus and scroll position, and recovers from a lost connection', async () => {
    const agent = await createAgent()
    const page = await openPage({ viewport: { width: 360, height: 400 } })
    await page.goto(agent.url)
    await eventually(() => textOf(page, '#connection'), /Updates by itself/)
    const advice = page.locator('.advice .copy')
    await advice.focus()
    const details = page.locator('#section-host details')
    await details.locator('summary').click()
    await advice.focus()
    const scrolled = await page.evaluate('window.scrollTo(0, 150); window.scrollY')
    agent.node.height = 4321
    await eventually(() => textOf(page, '#figures'), /4,321/)
    expect(await page.locator('.advice .copy:focus').count()).toBe(1)
    expect(await page.evaluate('window.scrollY')).toBe(scrolled)
    expect(await details.getAttribute('open')).toBe('')

    // A proxy answers with its sign-in page.
    await page.route(agent.url, (route) => route.fulfill({ contentType: 'text/html', body: '<h1>Sign in</h1>' }))
    await eventually(() => textOf(page, '#live'), /Connection lost at 2\d{3}-.* UTC: the values below/)
    await page.unroute(agent.url)
    await eventually(() => textOf(page, '#live'), /Updates by itself/)

    await agent.stop()
    await eventually(() => textOf(page, '#live'), /Connection lost at 2\d{3}-.* UTC: the values below/)
    agent.node.height = 5432
    await agent.start()
    await eventually(() => textOf(page, '#live'), /Updates by itself/)
    await eventually(() => textOf(page, '#figures'), /5,432/)
  })

  it('shows hostile text as text', async () => {
    const agent = await createAgent(HOSTILE)
    const page = await openPage({ viewport: { width: 360, height: 400 } })
    const complaints = complaintsOf(page)
    for (const path of ['', 'events']) {
      await page.goto(agent.url + path)
      expect(await textOf(page, 'main')).toContain("<script>document.title = 'owned'</script><img src=x")
      expect(await page.content()).not.toContain('\u202e')
      expect(await page.locator('main script, main img').count()).toBe(0)
      expect(await page.title()).not.toBe('owned')
      expect(await overflowOf(page)).toBe(0)
      expect((await page.content()).length).toBeLessThan(100_000)
    }
    expect(complaints).toEqual([])
  })

  it.each(['events', 'runbooks/', 'runbooks/ChainBehind'])('/%s is accessible, fits and is silent', async (path) => {
    const { url } = await createAgent()
    await expectAccessible(url + path)
  })

  it('the page of the query service is accessible, fits and is silent', async () => {
    const node = await startRpcNode({ height: 50 })
    onTestFinished(node.close)
    const service = await startQueryService({
      rpcUrl: node.url,
      store: servedStore(),
      settings: { unbounded: true },
    })
    onTestFinished(service.stop)
    await expectAccessible(service.operations)
  })

  it('a runbook has the real names of units', async () => {
    const agent = await createAgent()
    const page = await openPage()
    await page.goto(`${agent.url}runbooks/ChainBehind`)
    expect(await textOf(page, 'main')).toContain('systemctl restart acme-bft acme-execution acme-rpc')
  })
})
