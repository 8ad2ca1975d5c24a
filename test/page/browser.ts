import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { z } from 'zod'
import { findChromium } from '../support/debian.ts'
import type { Probe } from '../support/real-parts.ts'

/** Whether a Chromium is installed, or can be unpacked from Debian's packages. */
export const probeChromium = async (): Promise<Probe> => {
  try {
    return { version: (await findChromium()).program }
  } catch (error) {
    return { missing: `no Chromium: ${String(error).split('\n')[0]}` }
  }
}

export const openBrowser = async (): Promise<Browser> => {
  const { program, libraries } = await findChromium()
  return chromium.launch({
    executablePath: program,
    args: ['--no-sandbox', '--disable-gpu', '--force-color-profile=srgb', '--font-render-hinting=none'],
    env: libraries.length === 0 ? process.env : { ...process.env, LD_LIBRARY_PATH: libraries.join(':') },
  })
}

/** Everything that pages report from now on: console messages, uncaught errors, blocked resources, failed requests. */
export const complaintsOf = (...pages: readonly Page[]): string[] => {
  const complaints: string[] = []
  for (const page of pages) {
    page.on('console', (message) => complaints.push(`console: ${message.text()}`))
    page.on('pageerror', ({ message }) => complaints.push(`error: ${message}`))
    page.on('response', (response) => {
      if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`)
    })
  }
  return complaints
}

const resultSchema = z.object({
  violations: z.array(z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string() })) })),
})

/** The violations that axe-core finds, with everything that is folded opened. */
export const violationsIn = async (page: Page): Promise<readonly string[]> => {
  await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
  await page.evaluate(axe.source)
  const found = await page.evaluate("axe.run({ rules: { 'target-size': { enabled: true } } })")
  return resultSchema.parse(found).violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html}`))
}

/** How far a page is wider than the window. */
export const overflowOf = async (page: Page): Promise<number> =>
  z.number().parse(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth'))
