import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { alerts } from './alerts/files.ts'
import { cli } from './support/cli.ts'
import { must } from './support/programs.ts'

const ROOT = join(import.meta.dirname, '..')
const SITE = join(ROOT, '.cache/site')
const markdown = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.md'),
)
const pages = () => readdirSync(SITE, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.html'))
const read = (page: string): string => readFileSync(join(SITE, page), 'utf8')
const all = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map(([, found = '']) => found)
const idsOf = (page: string): readonly string[] => all(read(page), / id="([^"]+)"/g)

beforeAll(async () => {
  await must(process.execPath, ['scripts/site.mjs'], { cwd: ROOT })
})

test('has every page of the documentation, and the four of the repository', () => {
  expect(markdown.length).toBeGreaterThan(100)
  const expected = markdown.map((file) => `docs/${file.replace('README', 'index').replace(/md$/, 'html')}`)
  const four = ['CHANGELOG.html', 'CONTRIBUTING.html', 'SECURITY.html', 'index.html']
  expect(new Set(pages())).toEqual(new Set([...expected, ...four]))
})

test('every link leads to a file of the site and, with #, to an element of it', () => {
  const broken: string[] = []
  let checked = 0
  for (const page of pages()) {
    for (const link of all(read(page), / (?:href|src|srcset)="([^"]+)"/g)) {
      if (/^https?:/.test(link)) continue
      checked += 1
      const [path = '', id] = link.split('#')
      const target = path === '' ? page : join(dirname(page), path)
      const isFound = existsSync(join(SITE, target)) && (id === undefined || idsOf(target).includes(id))
      if (!isFound || target.endsWith('.md')) broken.push(`${page}: ${link}`)
    }
  }
  expect(broken).toEqual([])
  expect(checked).toBeGreaterThan(1000)
})

test('no page has an id twice', () => {
  expect(pages().filter((page) => new Set(idsOf(page)).size < idsOf(page).length)).toEqual([])
})

test('the alerts link to its runbooks, with the option of the guide', async () => {
  const [, host = '', template = ''] =
    /--runbooks '(https:\/\/[\w.-]+)\/([^']+)'/.exec(readFileSync(join(ROOT, 'docs/how-to/publish-docs.md'), 'utf8')) ??
    []
  const { out } = await cli(['rules', '--runbooks', `${host}/${template}`])
  const links = all(out, new RegExp(`runbook_url: "${host}/([^"]+)"`, 'g'))
  expect(links).toHaveLength(alerts.length)
  const isFound = (link: string): boolean => {
    const [path = '', id] = link.split('#')
    return existsSync(join(SITE, path)) && (id === undefined || idsOf(path).includes(id))
  }
  expect(links.filter((link) => !isFound(link))).toEqual([])
})
