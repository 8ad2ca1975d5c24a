import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { rules } from './alerts/files.ts'
import { parseConfigFile } from '../src/config/file.ts'
import { loadConfig } from '../src/config/load.ts'
import { metrics } from '../src/metrics.ts'
import { DISTRIBUTED_LOGS, LEDGER, LOCAL_LOGS, STATE } from '../src/query/store/clickhouse/open.ts'
import { listScenarios } from '../src/simulator/scenario/scenario.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')
const inFolder = (folder: string): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
const { name, version, scripts } = z
  .object({ name: z.string(), version: z.string(), scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(read('package.json')))

const PAGES = ['README.md', 'CONTRIBUTING.md', ...inFolder('docs')].filter((file) => file.endsWith('.md'))

/** Words that begin like a metric and are a label, or the beginning of several. */
const OTHER_WORDS = ['chain_id', 'chain_rpc', 'chain_query_service']
/** What the query service calls its tables in ClickHouse. */
const TABLES = [LOCAL_LOGS, DISTRIBUTED_LOGS, LEDGER, STATE]
/** What Prometheus knows a histogram by. */
const SERIES = Object.entries(metrics).flatMap(([metric, { type }]) =>
  type === 'histogram' ? ['sum', 'count', 'bucket'].map((part) => `${metric}_${part}`) : [],
)

const RECORDED = rules.flatMap(({ record = [] }) => record)

describe.each([...PAGES, ...inFolder('scenarios'), ...inFolder('deploy')])('%s', (file) => {
  const text = read(file)
  const all = (pattern: RegExp): readonly string[] => [...text.matchAll(pattern)].map(([, found = '']) => found)

  test('names only metrics that there are', () => {
    const known = [...Object.keys(metrics), ...SERIES, ...OTHER_WORDS, ...TABLES]
    // What a command greps for may be the beginning of a name: test/alerts/runbooks.test.ts sees to that.
    const named = all(/^(?!.*grep)(.*)$/gm).flatMap(
      (line) => line.match(/(?:\w+:)?\bchain_[a-z_]+[a-z](?::\w+)?/g) ?? [],
    )
    const unknown = named.filter((word) => !known.includes(word) && !RECORDED.includes(word))
    expect(unknown).toEqual([])
  })

  test('names only scripts that there are', () => {
    expect(all(/npm run ([\w:]+)/g).filter((script) => !(script in scripts))).toEqual([])
  })

  test('names only source files that exist', () => {
    const named = all(
      /`((?:src\/)?(?:agent|cli|collectors|commands|config|core|exporter|health|parsers|sources)\/[a-z0-9/-]+\.ts|(?:test|scripts)\/[a-z0-9/-]+\.(?:ts|mjs))`/g,
    )
    const exists = (path: string) => [path, `src/${path}`].some((at) => existsSync(join(ROOT, at)))
    expect(named.filter((path) => !exists(path))).toEqual([])
  })

  test('links only to what there is', () => {
    const links = all(/\]\(([^)#]+)(?:#[^)]*)?\)/g).filter((link) => !link.startsWith('http'))
    expect(links.filter((link) => !existsSync(join(ROOT, dirname(file), link)))).toEqual([])
  })
})

test('the configuration that the README shows can be used', () => {
  const [, shown = ''] = /```yaml\n(# \/etc[\s\S]+?)```/.exec(read('README.md')) ?? []
  const text = shown.replace('02…', `02${'ab'.repeat(32)}`)
  const { config } = loadConfig({ file: parseConfigFile('README.md', text), env: {}, flags: [] })
  expect(config.references.map(({ kind }) => kind)).toEqual(['rpc', 'query'])
})

test('the tarball that the README installs has the name that npm gives it', () => {
  expect(read('README.md')).toContain(`./${name}-${version}.tgz`)
})

test('forty failures, each seen by a metric or said to be out of reach, and simulated as it says', async () => {
  const rows = [...read('docs/failures.md').matchAll(/^\| *(F\d+) *\|[^|]+\|([^|]+)\|([^|]*)\|$/gm)]
  expect(rows.map(([, number]) => number)).toEqual(Array.from({ length: 40 }, (_, index) => `F${index + 1}`))
  const scenarios = await listScenarios()
  for (const [, number = '', seen = '', simulated = ''] of rows) {
    expect(seen, number).toMatch(/`chain_|out of reach/)
    const named = simulated.trim() === '' ? [] : simulated.trim().split(', ')
    const those = scenarios.filter(({ failures }) => failures.includes(number))
    expect(those.map((scenario) => scenario.name).toSorted(), number).toEqual(named.toSorted())
  }
})

test('every folder of src/ is on the map', () => {
  const folders = readdirSync(join(ROOT, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `src/${entry.name}/`)
  const map = read('docs/architecture.md')
  expect(folders.filter((folder) => !map.includes(folder))).toEqual([])
})
