import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { rules } from './alerts/files.ts'
import { metrics } from '../src/metrics.ts'
import { DISTRIBUTED_LOGS, LEDGER, LOCAL_LOGS, STATE } from '../query/store/clickhouse/open.ts'
import { listScenarios } from '../simulator/scenario/scenario.ts'
import { blocksOf, reasonOf, runOf, shellBlocks, type ShellBlock } from './support/shell-blocks.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')
const inFolder = (folder: string): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
const { name, version, scripts } = z
  .object({ name: z.string(), version: z.string(), scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(read('package.json')))

/** Those at the top and of docs/, and those next to the code. */
const PAGES = [
  ...readdirSync(ROOT),
  ...['docs', 'src', 'query', 'simulator', 'scenarios', 'bench', 'test'].flatMap(inFolder),
].filter((file) => file.endsWith('.md') && !file.includes('node_modules/'))

/** Words that begin like a metric and are a label, or the beginning of several. */
const OTHER_WORDS = ['chain_id', 'chain_rpc', 'chain_query_service']
/** What the query service calls its tables in ClickHouse. */
const TABLES = [LOCAL_LOGS, DISTRIBUTED_LOGS, LEDGER, STATE]
/** What Prometheus knows a histogram by. */
const SERIES = Object.entries(metrics).flatMap(([metric, { type }]) =>
  type === 'histogram' ? ['sum', 'count', 'bucket'].map((part) => `${metric}_${part}`) : [],
)

/** Whether a word of a page names a metric: exactly, or with `_*` at its end, by the beginning of its name. */
const isNamedBy = (word: string, metric: string): boolean =>
  word.endsWith('*') ? metric.startsWith(word.slice(0, -1)) : metric === word

/** Whether a link of a page leads to a file and, with `#`, to a heading in it. Other hosts are not requested. */
const resolves = (page: string, link: string): boolean => {
  if (/^https?:\/\/./.test(link)) return true
  const [path = '', heading] = link.split('#')
  const target = path === '' ? page : join(dirname(page), path)
  return existsSync(join(ROOT, target)) && (heading === undefined || headingsOf(target).includes(heading))
}

/** The anchors of the headings of a page, as Git hosts make them. */
const headingsOf = (page: string): readonly string[] =>
  [
    ...read(page)
      .replaceAll(/^```[\s\S]*?^```$/gm, '')
      .matchAll(/^#+ (.*)$/gm),
  ].map(([, text = '']) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

const RECORDED = rules.flatMap(({ record = [] }) => record)

describe.each([...new Set([...PAGES, ...inFolder('scenarios'), ...inFolder('deploy')])])('%s', (file) => {
  const text = read(file)
  const all = (pattern: RegExp): readonly string[] => [...text.matchAll(pattern)].map(([, found = '']) => found)

  test('names only metrics that there are', () => {
    // The changelog also has the names that were replaced: in the first column of a table.
    const replaced =
      file === 'CHANGELOG.md' ? all(/^ *\| ([^|]*)\|/gm).flatMap((cell) => cell.match(/\bchain_\w+/g) ?? []) : []
    const known = [...Object.keys(metrics), ...SERIES, ...OTHER_WORDS, ...TABLES, ...replaced]
    // What a command greps for may be the beginning of a name: test/alerts/runbooks.test.ts sees to that.
    const named = all(/^(?!.*grep)(.*)$/gm).flatMap(
      (line) => line.match(/(?:\w+:)?\bchain_[a-z_]+(?:_\*|[a-z](?::\w+)?)/g) ?? [],
    )
    const unknown = named.filter((word) => ![...known, ...RECORDED].some((one) => isNamedBy(word, one)))
    expect(unknown).toEqual([])
  })

  test('names only scripts that there are', () => {
    expect(all(/npm run (?:--silent )?([\w:-]+)/g).filter((script) => !(script in scripts))).toEqual([])
  })

  test('names only source files that exist', () => {
    const named = all(
      /`((?:src\/)?(?:agent|cli|collectors|commands|config|core|exporter|health|parsers|sources)\/[a-z0-9/-]+\.ts|(?:test|scripts)\/[a-z0-9/-]+\.(?:ts|mjs))`/g,
    )
    const exists = (path: string) => [path, `src/${path}`].some((at) => existsSync(join(ROOT, at)))
    expect(named.filter((path) => !exists(path))).toEqual([])
  })

  test('links only to what there is', () => {
    const links = [...all(/\]\(([^)\s]+)\)/g), ...all(/ (?:src|srcset)="([^"]+)"/g)]
    expect(links.filter((link) => !resolves(file, link))).toEqual([])
  })
})

test('links to headings are checked', () => {
  expect(
    ['../../ARCHITECTURE.md#the-tree', '../../README.md#demo'].map((link) =>
      resolves('docs/explanation/health.md', link),
    ),
  ).toEqual([true, true])
  expect(['#the-trees', 'missing/README.md#demo', 'https:'].map((link) => resolves('SECURITY.md', link))).toEqual([
    false,
    false,
    false,
  ])
})

describe('the shell blocks', () => {
  const blocks = shellBlocks()
  const nameOf = ({ page, line }: Pick<ShellBlock, 'page' | 'line'>): string => `${page}:${line}`

  test('are run by a test, or say why not', () => {
    expect(blocks.length).toBeGreaterThan(40)
    const reasons = blocks.filter((block) => runOf(block) === undefined)
    expect(reasons.filter((block) => reasonOf(block).split(' ').length < 3).map(nameOf)).toEqual([])
  })

  test('do not wait without a limit', () => {
    const endless = blocks.filter(({ text }) =>
      text.split('\n').some((line) => /\b(?:until|while)\b.*; do\b/.test(line) && !/\btimeout \d/.test(line)),
    )
    expect(endless.map(nameOf)).toEqual([])
  })

  test('have each mark of a page', () => {
    const known = new Set(blocks.filter(({ mark }) => mark !== '').map((block) => nameOf(block)))
    const written = PAGES.flatMap((page) =>
      [...read(page).matchAll(/^ *<!-- (?:not )?run\b/gm)].map(({ index }) =>
        nameOf({ page, line: read(page).slice(0, index).split('\n').length }),
      ),
    )
    expect(
      written.filter((mark) => !known.has(mark)),
      'a comment `run` needs a block `sh` after an empty line',
    ).toEqual([])
  })

  test('are not empty, and bash can parse them, those of the runbooks too', () => {
    const runbooks = PAGES.filter((page) => page.startsWith('docs/runbooks/')).flatMap(blocksOf)
    expect(runbooks.length).toBeGreaterThan(100)
    const parsed = [...blocks, ...runbooks].filter(({ text }) => !text.startsWith('$ '))
    const invalid = parsed.filter(({ text }) => spawnSync('bash', ['-n'], { input: text }).status !== 0)
    expect(invalid.map(nameOf)).toEqual([])
  })
})

test('the packages that the pages install have the version of this one', () => {
  expect(read('docs/how-to/install.md')).toContain(`./${name}-${version}.tgz`)
  const named = PAGES.flatMap((page) => [
    ...read(page).matchAll(/chain-agent[a-z-]*[-_](\d+\.\d+\.\d+)(?:_amd64\.deb|\.tgz)/g),
  ])
  expect(new Set(named.map(([, written]) => written))).toEqual(new Set([version]))
})

test('the failures, each seen by a metric or said to be out of reach, and simulated as it says', async () => {
  const page = read('scenarios/failures.md')
  const rows = [...page.matchAll(/^\| *(F\d+) *\|[^|]+\|([^|]+)\|([^|]*)\|$/gm)]
  expect(rows.map(([, number]) => number)).toEqual(
    Array.from({ length: page.match(/^\| *F/gm)?.length ?? 0 }, (_, index) => `F${index + 1}`),
  )
  expect(rows.length).toBeGreaterThan(40)
  const scenarios = await listScenarios()
  for (const [, number = '', seen = '', simulated = ''] of rows) {
    expect(seen, number).toMatch(/`chain_|out of reach/)
    const named = simulated.trim() === '' ? [] : simulated.trim().split(', ')
    const those = scenarios.filter(({ failures }) => failures.includes(number))
    expect(those.map((scenario) => scenario.name).toSorted(), number).toEqual(named.toSorted())
  }
})

test('every folder of src/ and query/ is on the map', () => {
  const folders = ['src', 'query'].flatMap((program) =>
    readdirSync(join(ROOT, program), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => `${program}/${entry.name}/`),
  )
  const map = read('ARCHITECTURE.md')
  expect(folders.filter((folder) => !map.includes(folder))).toEqual([])
})
