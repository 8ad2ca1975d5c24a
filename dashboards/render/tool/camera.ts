import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { type Page, type Request, chromium } from 'playwright-core'
import sharp from 'sharp'
import { findChromium } from '../../../test/support/debian.ts'

const WIDTH = 1600

const PACKAGE = fileURLToPath(new URL('..', import.meta.url))
const BUNDLE = fileURLToPath(new URL('../../../.cache/pictures', import.meta.url))
const MODULES = join(PACKAGE, 'node_modules')

interface Shown {
  /** Milliseconds since the epoch; the end of it is now. */
  readonly span: { readonly to: number }
  readonly theme: 'dark' | 'light'
  readonly panels: readonly { readonly type: string }[]
}

export interface Camera {
  /** A PNG of the whole page. Throws where the page has anything to complain of. */
  shoot(scene: Shown, height?: number): Promise<Buffer>
  close(): Promise<void>
}

export const openCamera = async (): Promise<Camera> => {
  await bundle()
  const { program, libraries } = await findChromium()
  const pages = { scene: '{}' }
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1')
    void file(pathname, pages.scene).then(
      ([type, body]) => response.writeHead(200, { 'content-type': type }).end(body),
      () => response.writeHead(404).end(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const browser = await chromium.launch({
    executablePath: program,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-lcd-text',
      '--force-color-profile=srgb',
      '--font-render-hinting=none',
    ],
    env: libraries.length === 0 ? process.env : { ...process.env, LD_LIBRARY_PATH: libraries.join(':') },
  })
  return {
    shoot: async (scene, visible) => {
      pages.scene = JSON.stringify(scene).replaceAll('<', String.raw`\u003c`)
      const page = await browser.newPage({
        viewport: { width: WIDTH, height: 1000 },
        timezoneId: 'UTC',
      })
      // "Three hours ago" is so for Grafana by the clock of the browser.
      await page.clock.setFixedTime(scene.span.to)
      const complaints: string[] = []
      page.on('pageerror', (error) => complaints.push(error.message))
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(`${message.text()} ${message.location().url}`)
      })
      const quiet = whenQuiet(page)
      await page.goto(`http://127.0.0.1:${portOf(address)}/`)
      // A table draws only those rows that are in sight.
      const height = Number(await page.evaluate('document.documentElement.scrollHeight'))
      await page.setViewportSize({ width: WIDTH, height })
      const count = scene.panels.filter(({ type }) => type !== 'row').length
      try {
        await page.waitForFunction(`window.drawn === ${count} && document.fonts.status === 'loaded'`)
      } catch (error) {
        throw new Error(complaints.join('\n'), { cause: error })
      }
      await quiet()
      // Two frames: what is drawn on a canvas comes after what is laid out.
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
      const clip = visible === undefined ? {} : { clip: { x: 0, y: 0, width: WIDTH, height: visible } }
      const picture = await page.screenshot({ animations: 'disabled', ...clip })
      await page.close()
      if (complaints.length > 0) throw new Error([...new Set(complaints)].slice(0, 12).join('\n'))
      return await small(picture)
    },
    close: async () => {
      await browser.close()
      server.close()
    },
  }
}

/** So many looks in a row without a question under way: then nothing more is fetched. */
const LOOKS = 5
const BETWEEN_MS = 100
const MOST_LOOKS = 600

/** Waits until the icons are there, which are fetched one by one. On a busy machine Chromium's own sign of it may not come. */
const whenQuiet = (page: Page): (() => Promise<void>) => {
  const open = new Set<Request>()
  page.on('request', (request) => open.add(request))
  page.on('requestfinished', (request) => open.delete(request))
  page.on('requestfailed', (request) => open.delete(request))
  return async () => {
    let quiet = 0
    for (let looks = 0; quiet < LOOKS; looks += 1) {
      if (looks === MOST_LOOKS)
        throw new Error(`still asked for: ${[...open].map((request) => request.url()).join(', ')}`)
      await delay(BETWEEN_MS)
      quiet = open.size === 0 ? quiet + 1 : 0
    }
  }
}

/** 256 colours, each chosen from those that are there, are enough for lines and letters: a third of the size. */
const small = async (picture: Buffer): Promise<Buffer> =>
  sharp(picture).png({ palette: true, colours: 256, effort: 10, dither: 0 }).toBuffer()

const portOf = (address: string | AddressInfo | null): number =>
  typeof address === 'object' && address ? address.port : 0

const bundle = async (): Promise<void> => {
  await build({
    entryPoints: [join(PACKAGE, 'page/app.tsx')],
    outdir: BUNDLE,
    bundle: true,
    format: 'iife',
    platform: 'browser',
    jsx: 'automatic',
    minify: true,
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"production"', global: 'window' },
    loader: {
      '.svg': 'dataurl',
      '.png': 'dataurl',
      '.woff2': 'dataurl',
      '.woff': 'dataurl',
      '.ttf': 'dataurl',
    },
  })
}

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
}

const FONTS: Readonly<Record<string, string>> = {
  'Inter-Regular.woff2': 'inter-latin-400-normal.woff2',
  'Inter-Medium.woff2': 'inter-latin-500-normal.woff2',
}

/** What the page asks for, where Grafana would have it. */
const file = async (path: string, scene: string): Promise<readonly [string, string | Buffer]> => {
  const name = path.split('/').at(-1) ?? ''
  if (name === '') return ['text/html', page(scene)]
  const type = TYPES[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream'
  const font = FONTS[name]
  if (font !== undefined) return [type, await readFile(join(MODULES, '@fontsource/inter/files', font))]
  if (path === '/app.js' || path === '/app.css') return [type, await readFile(join(BUNDLE, path))]
  const icon = path.replace(/^\/public(?:\/build)?/, '')
  return [type, await readFile(join(MODULES, '@grafana/ui/dist/public', icon))]
}

const page = (scene: string): string => `<!doctype html>
<meta charset="utf-8">
<link rel="stylesheet" href="/app.css">
<div id="root"></div>
<script>window.scene = ${scene}</script>
<script src="/app.js"></script>
`
