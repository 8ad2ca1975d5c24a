import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, normalize, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { z } from 'zod'
import { run } from './support/programs.ts'

/** What the files of a folder import besides each other: folders and files, after `type` as types only, and packages. */
const LAYERS: Readonly<Record<string, string>> = {
  'src/main.ts': 'src/cli src/core node',
  'src/metrics.ts': 'src/collectors/index.ts src/core src/query/service/metrics.ts',
  'src/core': 'type src/metrics.ts node',
  'src/core/clock.ts': 'src/core node:events node:timers/promises',
  'src/parsers': 'src/core @noble/hashes smol-toml zod',
  'src/sources': 'src/core execa modern-tar p-limit systeminformation node',
  'src/collectors': 'src/core src/config/values.ts src/parsers type src/config type src/sources zod',
  'src/config': 'src/collectors/index.ts src/core src/health/role.ts src/health/rules node yaml zod',
  'src/exporter': 'src/config/web-config.ts src/core src/metrics.ts node express type src/health type src/parsers',
  'src/exporter/page':
    'src/exporter/web.ts src/exporter/connections.ts src/core src/health src/metrics.ts node type express marked type src/parsers',
  'src/exporter/bcrypt-worker.ts': 'node:worker_threads bcryptjs',
  'src/exporter/exposition.ts': 'src/core src/metrics.ts prom-client',
  'src/agent':
    'src/collectors src/config src/core src/exporter src/health src/parsers src/query src/sources src/tokens node pino',
  'src/health':
    'src/core type src/collectors type src/config src/collectors/consensus/findings.ts src/parsers/log-patterns/list.ts @prometheus-io/lezer-promql type @lezer/common node:os',
  'src/keys': 'src/core src/parsers type src/sources node:path age-encryption zod',
  'src/tokens': 'src/core src/query/client/errors.ts type src/query @noble/hashes',
  'src/query/client':
    'src/core src/query/log-fields.ts src/sources/durable.ts src/sources/http-exchange.ts type node:http zod',
  'src/query/store': 'src/core src/query/log-fields.ts node @clickhouse/client @duckdb/node-api',
  'src/query/service':
    'src/core src/query/log-fields.ts src/query/store/store.ts src/query/store/errors.ts src/sources/http-exchange.ts node @noble/hashes express zod',
  'src/simulator': 'src/core node @noble/hashes',
  'src/cli':
    'src/collectors/index.ts src/commands src/config src/core src/health type src/sources src/simulator/scenario/scenario.ts src/sources/runbooks.ts node commander pino',
  'src/commands':
    'src/agent src/cli src/collectors src/config src/core src/exporter src/health src/keys src/metrics.ts src/parsers src/query src/simulator src/sources src/tokens node node:child_process commander pino yaml zod',
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

test('every import is in the table of layers', async () => {
  const found: string[] = []
  for (const folder of ['src', 'dashboards/build']) {
    for (const name of await readdir(folder, { recursive: true })) {
      const file = join(folder, name)
      if (file.endsWith('.ts')) found.push(...violationsOf(file, await readFile(file, 'utf8')))
    }
  }
  expect(found).toEqual([])
})

test('scripts import only files that the build writes', async () => {
  const missing: string[] = []
  for (const folder of ['scripts', 'bench', 'test/fixtures/bin']) {
    for (const name of await readdir(folder, { recursive: true })) {
      if (!name.endsWith('.mjs') || name.includes('node_modules')) continue
      const text = await readFile(join(folder, name), 'utf8')
      for (const [, built = ''] of text.matchAll(/'(?:\.\.\/)+dist\/([^']+)\.js'/g))
        if (!existsSync(`src/${built}.ts`)) missing.push(`${folder}/${name}: ${built}`)
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
  ['src/simulator/rpc/a.ts', "const late = async () => import('../../metrics.ts')", false],
  ['src/query/client/a.ts', "import '../../sources/rpc.ts'", false],
  ['src/tokens/a.ts', "import type { Page } from '../query/client/types.ts'", true],
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
    z.object({
      filename: z.string(),
      code: z.string(),
      message: z.string(),
      help: z.string().optional(),
    }),
  ),
})

describe('the lint', () => {
  let directory = ''
  const messages = new Map<string, string>()

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'chain-layers-'))
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

  afterAll(async () => {
    await rm(directory, { recursive: true })
  })

  it.each(FORBIDDEN)('in %s: %s', (file, _, reason) => {
    if (reason === '') expect(messages.get(file)).toBe(undefined)
    else expect(messages.get(file)).toContain(reason)
  })
})
