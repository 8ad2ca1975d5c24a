import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { openHost } from '../test/support/host.ts'
import { markOfPage, PAGE_DRAWN } from '../test/support/page-mark.ts'
import { openBrowser } from '../test/page/browser.ts'

/** Scenario and colour scheme of each picture in docs/images. */
const PICTURES = [
  'service-crash light',
  'service-crash dark',
  'healthy light',
  'stalled light',
  'falling-behind light',
  'statesync light',
  'storage-filling light',
  'references-down light',
  'no-journal-permission light',
]
const IMAGES = 'docs/images'

// test/dashboard-pictures compares what they were drawn from with the current page.
test('the status page is drawn', async ({ onTestFinished }) => {
  const browser = await openBrowser()
  onTestFinished(async () => browser.close())
  for (const picture of PICTURES) {
    const [scenario = '', colorScheme] = picture.split(' ')
    // At the end of the 31 s below the fault is 50 s old; later the node of service-crash runs again.
    const host = await openHost({ scenario, second: 49 })
    // Until the rules have been evaluated, and once more.
    for (let second = 0; second < 31; second += 1) await host.second()
    const page = await browser.newPage({
      colorScheme: colorScheme === 'dark' ? 'dark' : 'light',
      viewport: { width: 1280, height: 960 },
    })
    await page.goto(`http://127.0.0.1:${host.port}/`)
    const drawn = await page.screenshot({ animations: 'disabled' })
    await page.close()
    expect(drawn.length).toBeGreaterThan(10_000)
    await writeFile(`${IMAGES}/page-${scenario}-${colorScheme}.png`, drawn)
  }
  await writeFile(`${IMAGES}/${PAGE_DRAWN}`, `${JSON.stringify(await markOfPage())}\n`)
})
