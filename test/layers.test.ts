import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, normalize, resolve } from 'node:path'
import { beforeAll, describe, expect, it, test } from 'vitest'
import { z } from 'zod'
import { temporaryFolder } from './support/directory.ts'
import { run } from './support/programs.ts'

const directory = await temporaryFolder()

/** What every room above the core may use. */
const BASE = 'src/core src/domain'
/** What the files of a folder import besides each other: folders and files, after `type` as types only, and packages. */
const LAYERS: Readonly<Record<string, string>> = {
  'src/core': 'node @scure/bip39/wordlists/english.js',
  'src/core/clock.ts': 'src/core node:events node:timers/promises',
  'src/core/files.ts': 'src/core node p-limit',
  'src/core/settings.ts': 'src/core zod',
  'src/domain': 'src/core node:crypto',
  'src/parsers': `${BASE} node:crypto @noble/hashes smol-toml zod`,
  'src/sources': `${BASE} execa modern-tar p-limit systeminformation node`,
  'src/collectors': `${BASE} src/parsers type src/config type src/sources zod`,
  'src/collectors/index.ts': 'src/collectors src/outbound',
  'src/outbound': `${BASE} src/collectors type src/sources zod`,
  'src/metrics.ts': `${BASE} src/collectors/index.ts query/service/metrics.ts`,
  'src/health': `${BASE} type src/collectors type src/config src/collectors/consensus/findings.ts type src/parsers src/parsers/log-patterns/list.ts @prometheus-io/lezer-promql type @lezer/common node:os`,
  'src/health/settings.ts': `src/health src/core/suggest.ts zod`,
  'src/config': `${BASE} src/collectors/index.ts src/health/settings.ts query/service/settings.ts node yaml zod`,
  'src/exporter': `${BASE} src/config/web-config.ts node express type src/health type src/parsers`,
  'src/exporter/page': `${BASE} src/exporter/web.ts src/health node type express marked type src/parsers`,
  'src/exporter/bcrypt-worker.ts': 'node:worker_threads bcryptjs',
  'src/exporter/exposition.ts': 'src/core prom-client',
  'src/agent': `${BASE} src/collectors src/config src/exporter src/health src/metrics.ts src/parsers src/sources node p-limit pino`,
  'src/keys': `${BASE} src/parsers type src/sources node:path age-encryption zod`,
  'src/terminal': `${BASE} src/config src/health type src/sources node commander pino`,
  'src/commands': `${BASE} src/agent src/collectors src/config src/exporter src/health src/keys src/metrics.ts src/outbound src/parsers src/sources src/terminal simulator/scenario node commander pino yaml zod`,
  'query/client': `${BASE} query/log-fields.ts src/sources type node:http p-limit zod`,
  'query/tokens': `${BASE} query/client/errors.ts type query @noble/hashes`,
  'query/store': `${BASE} query/log-fields.ts src/sources/durable.ts node @clickhouse/client @duckdb/node-api p-limit`,
  'query/service': `${BASE} query/log-fields.ts query/store/store.ts query/store/errors.ts src/exporter/connections.ts src/sources node @noble/hashes apache-arrow express zod`,
  'query/commands': `${BASE} query src/collectors/shared/request.ts type src/config src/exporter src/parsers src/sources src/terminal node commander zod`,
  simulator: `${BASE} src/parsers/staking.ts node @noble/hashes zod`,
  'simulator/commands': `${BASE} simulator src/agent src/commands/maintenance src/config src/exporter src/parsers src/sources src/terminal node node:child_process commander pino yaml zod`,
  'src/cli': `${BASE} src/collectors/index.ts src/commands query/commands simulator/commands simulator/scenario/scenario.ts src/config src/health/sections src/sources src/terminal node commander pino`,
  'src/main.ts': 'src/cli src/terminal src/core node',
  'dashboards/build': 'node:fs yaml zod @grafana/grafana-foundation-sdk @prometheus-io/lezer-promql',
}
/** Not meant by `node`: programs start in sources/exec.ts, and time comes from core/clock.ts. */
const NEVER_MEANT = ['node:child_process', 'node:timers', 'node:timers/promises']

interface Import {
  readonly target: string
  readonly isType: boolean
}

const STATEMENT =
  /^(?:import|export)\s+(?<type>type\s)?(?<names>[\w*{}\s,]*)\sfrom '(?<a>[^']+)'|^import '(?<b>[^']+)'|\bimport\('(?<c>[^']+)'\)/gm

const importsOf = (file: string, text: string): readonly Import[] =>
  [...text.matchAll(STATEMENT)].map(({ groups = {} }) => {
    const { type, names = '', a, b, c } = groups
    const specifier = a ?? b ?? c ?? ''
    const each = /^\s*\{(.*)\}\s*$/s
      .exec(names)?.[1]
      ?.split(',')
      .filter((name) => name.trim())
    return {
      target: specifier.startsWith('.') ? normalize(join(dirname(file), specifier)) : specifier,
      isType: type !== undefined || (each?.every((name) => /^\s*type\s/.test(name)) ?? false),
    }
  })

const isWithin = (target: string, part: string): boolean => target === part || target.startsWith(`${part}/`)

/** The imports of a file that the table does not allow. */
const violationsOf = (file: string, text: string): readonly string[] => {
  const [layer = ''] = Object.keys(LAYERS)
    .filter((folder) => isWithin(file, folder))
    .toSorted((a, b) => b.length - a.length)
  const allowed = (LAYERS[layer] ?? '').matchAll(/(?<type>type )?(?<part>\S+)/g)
  const parts = [...allowed].map(({ groups = {} }) => groups)
  return importsOf(file, text)
    .filter(
      ({ target, isType }) =>
        !isWithin(target, layer) &&
        !parts.some(
          ({ type, part = '' }) =>
            (isType || type === undefined) &&
            (isWithin(target, part) ||
              (part === 'node' && target.startsWith('node:') && !NEVER_MEANT.includes(target))),
        ),
    )
    .map(({ target }) => `${file} imports ${target}, which is not in the row of ${layer}`)
}

/** The text of every source file, by its path. */
const readSources = async (): Promise<ReadonlyMap<string, string>> => {
  const texts = new Map<string, string>()
  for (const folder of ['src', 'query', 'simulator', 'dashboards/build']) {
    for (const name of await readdir(folder, { recursive: true })) {
      const file = join(folder, name)
      if (file.endsWith('.ts')) texts.set(file, await readFile(file, 'utf8'))
    }
  }
  return texts
}
const sources = await readSources()
const graph = new Map([...sources].map(([file, text]) => [file, importsOf(file, text)]))

test('every import is in the table of layers', () => {
  expect([...sources].flatMap(([file, text]) => violationsOf(file, text))).toEqual([])
})

/** The first circle of imports, as a path that ends where it began. */
const findCircle = (imports: ReadonlyMap<string, readonly Pick<Import, 'target'>[]>): readonly string[] => {
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): readonly string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return []
    for (const { target } of imports.get(file) ?? []) {
      const circle = visit(target, [...path, file])
      if (circle.length > 0) return circle
    }
    done.add(file)
    return []
  }
  for (const file of imports.keys()) {
    const circle = visit(file, [])
    if (circle.length > 0) return circle
  }
  return []
}

/** Open files of the package, new files, and files of the kernel and the system; core/files.ts opens all others. */
const OPENERS =
  `src/core/files.ts src/core/package.ts src/sources/secret-files.ts src/sources/process.ts src/sources/durable.ts
src/sources/archive.ts src/sources/runbooks.ts src/exporter/page/document.ts src/commands/init/action.ts
src/commands/shared/write-files.ts src/commands/run/systemd-notify.ts`.split(/\s+/)

test('files that other programs write are opened by core/files.ts', () => {
  const opens =
    /^import [^']*\b(?:open|openSync|readFile|readFileSync|createReadStream|appendFile)\b[^']* from 'node:fs/m
  const programs = [...sources].filter(([file]) => /^(?:src|query)\//.test(file))
  expect(programs.flatMap(([file, text]) => (opens.test(text) ? [file] : [])).toSorted()).toEqual(OPENERS.toSorted())
})

test('no files import each other in a circle, types included', () => {
  expect(findCircle(graph)).toEqual([])
})

test('a circle is found', () => {
  const of = (...targets: readonly string[]) => targets.map((target) => ({ target }))
  const imports = new Map([
    ['a', of('b', 'c')],
    ['b', of('d')],
    ['c', of('d', 'a')],
    ['d', of()],
  ])
  expect(findCircle(imports)).toEqual(['a', 'c', 'a'])
})

/** The files that a program loads: those that it imports, not only as types, and theirs. */
const reachOf = (file: string, seen = new Set<string>()): ReadonlySet<string> => {
  seen.add(file)
  for (const { target, isType } of graph.get(file) ?? [])
    if (!isType && !seen.has(target) && graph.has(target)) reachOf(target, seen)
  return seen
}

/** A program, and the folders that it must not reach. */
const PROGRAMS = [
  ['query/commands/serve-query/command.ts', 'src/collectors src/health src/parsers src/agent src/metrics.ts simulator'],
  [
    'query/commands/query/command.ts',
    'src/collectors src/health src/agent src/metrics.ts query/store query/service simulator',
  ],
  [
    'query/commands/balances/command.ts',
    'src/agent src/metrics.ts query/store query/service/api query/service/ingest simulator',
  ],
  [
    'src/agent/agent.ts',
    'query/store query/service/api query/service/ingest query/commands simulator src/commands src/terminal',
  ],
  ['simulator/simulator.ts', 'src/collectors src/health src/agent src/metrics.ts query'],
] as const

test.each(PROGRAMS)('%s reaches nothing in %s', (file, folders) => {
  const reached = [...reachOf(file)]
  expect(reached.length).toBeGreaterThan(5)
  expect(reached.filter((one) => folders.split(' ').some((folder) => isWithin(one, folder)))).toEqual([])
})

test('scripts import only files that the build writes', async () => {
  const missing: string[] = []
  for (const folder of ['scripts', 'bench', 'test/fixtures/bin']) {
    for (const name of await readdir(folder, { recursive: true })) {
      if (!name.endsWith('.mjs') || name.includes('node_modules')) continue
      const text = await readFile(join(folder, name), 'utf8')
      for (const [, built = ''] of text.matchAll(/'(?:\.\.\/)+\.cache\/modules\/([^']+)\.js'/g))
        if (!existsSync(`${built}.ts`)) missing.push(`${folder}/${name}: ${built}`)
    }
  }
  expect(missing).toEqual([])
})

test.each([
  ['src/parsers/a.ts', "import { readFile } from 'node:fs/promises'", false],
  ['src/parsers/a.ts', "import { ParseError } from '../core/errors.ts'", true],
  ['src/sources/a.ts', "export { spawn } from 'node:child_process'", false],
  ['src/collectors/a.ts', "import { createExec } from '../sources/exec.ts'", false],
  ['src/collectors/x/a.ts', "import type { Exec } from '../../sources/exec.ts'", true],
  ['src/collectors/a.ts', "import { type Exec, type Command } from '../sources/exec.ts'", true],
  ['src/collectors/a.ts', "import { type Exec, createExec } from '../sources/exec.ts'", false],
  ['src/collectors/a.ts', "import {\n  type Exec,\n  createExec,\n} from '../sources/exec.ts'", false],
  ['src/exporter/a.ts', "export { Registry } from 'prom-client'", false],
  ['src/exporter/exposition.ts', "export { Registry } from 'prom-client'", true],
  ['simulator/rpc/a.ts', "const late = async () => import('../../src/metrics.ts')", false],
  ['query/client/a.ts', "import '../../src/collectors/index.ts'", false],
  ['query/tokens/a.ts', "import type { Page } from '../query/client/types.ts'", true],
  ['dashboards/build/a.ts', "export { metrics } from '../../src/metrics.ts'", false],
])('in %s: %s', (file, text, isAllowed) => {
  expect(violationsOf(file, text).length === 0).toBe(isAllowed)
})

/** A file that uses what the lint forbids in its folder, and the reason the lint gives. */
const FORBIDDEN = [
  ['src/parsers/a.ts', 'export const at = (): number => Date.now()', 'time has one source'],
  ['src/core/a.ts', 'export const in5 = (f: () => void) => setTimeout(f, 5)', 'time has one source'],
  ['src/core/b.ts', 'export const stop = (): void => process.exit(1)', 'only main.ts ends'],
  ['src/collectors/a.ts', "export const get = async () => fetch('http://x/')", 'Use sources/http.ts'],
  ['src/commands/a/a.ts', "export const home = process.env['HOME']", 'by main.ts only'],
  ['test/a.test.ts', "import { vi } from 'vitest'\nvi.mock('../src/core/clock.ts')", 'No module mocks'],
  ['src/main.ts', "export const home = process.env['HOME']", ''],
  ['test/ok.test.ts', "import { vi } from 'vitest'\nexport const spy = vi.fn()", ''],
] as const

const report = z.object({
  diagnostics: z.array(
    z.object({ filename: z.string(), code: z.string(), message: z.string(), help: z.string().optional() }),
  ),
})

describe('the lint', () => {
  const messages = new Map<string, string>()

  beforeAll(async () => {
    await copyFile('.oxlintrc.json', join(directory, '.oxlintrc.json'))
    for (const [file, text] of FORBIDDEN) {
      await mkdir(dirname(join(directory, file)), { recursive: true })
      await writeFile(join(directory, file), `${text}\n`)
    }
    const oxlint = resolve('node_modules/oxlint/bin/oxlint')
    const { stdout } = await run(process.execPath, [oxlint, '-f', 'json'], { cwd: directory })
    for (const { filename, code, message, help } of report.parse(JSON.parse(stdout)).diagnostics)
      if (code.includes('no-restricted-')) messages.set(filename, `${message} ${help ?? ''}`)
  })

  it.each(FORBIDDEN)('in %s: %s', (file, _, reason) => {
    if (reason === '') expect(messages.get(file)).toBe(undefined)
    else expect(messages.get(file)).toContain(reason)
  })
})
