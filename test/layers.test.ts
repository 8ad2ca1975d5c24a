import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { run } from './support/programs.ts'

const CLOCK = 'Take a Clock: time has one source, core/clock.ts.'
const PARSERS = 'Parsers are pure: text in, typed value out; core/errors, core/units and zod only.'
const SOURCES = 'Sources bring bytes and know core alone: no parser, no collector, no meaning.'
const COLLECTORS =
  'Collectors know core, the catalogue and parsers, and sources as types; what they ask is handed to them.'
const EXPORTER =
  'The exporter reads the board: no collector, no source; prom-client in registry.ts only.'
const SIMULATOR =
  'The simulator imports core, Node and a hash function only: it must not share code with the agent that it tests.'
const CLI = 'A command talks to the agent, the board and its own parts; it obtains no bytes itself.'
const CORE = 'The core knows the catalogue and Node; time has one source, core/clock.ts.'
const ENV = 'The environment is read in config/ and handed on by main.ts only.'
const EXIT = 'Return an exit code: only main.ts ends the process.'
const FETCH = 'Bytes are fetched in sources/ only.'
const DASHBOARDS = "Dashboards know the rules and Grafana's builders, and nothing of the agent."
const KEYS =
  'What is done with keys knows parsers, and sources as types; files and tool are handed to it.'
const QUERY =
  'The query client brings pages of logs and knows core alone: no meaning, no file, no other way out.'
const STORE =
  'A store of logs knows core and its own engine: where blocks come from and who asks is not its affair.'
const SERVICE =
  'The query service takes blocks from a node and answers requests; stores and clocks are handed to it.'
const TOKENS =
  'Balances are pure: pages in, numbers out; core, what a page is, and a kept keccak only.'
const MOCK = 'No module mocks: hand the part in.'

/** A file that breaks one rule, and what the lint says of it. */
const REFUSED = [
  ['src/parsers/a.ts', "export { readFile } from 'node:fs/promises'", PARSERS],
  ['src/parsers/b.ts', "export { systemClock } from '../core/clock.ts'", PARSERS],
  ['src/parsers/c.ts', "export { createExec } from '../sources/exec.ts'", PARSERS],
  ['src/parsers/d.ts', "export { x } from '../collectors/x.ts'", PARSERS],
  ['src/parsers/e.ts', 'export const at = (): number => Date.now()', CLOCK],
  ['src/parsers/f.ts', "export const late = async () => import('../sources/exec.ts')", PARSERS],
  ['src/sources/a.ts', "export { parseX } from '../parsers/x.ts'", SOURCES],
  ['src/sources/b.ts', "export { x } from '../collectors/x.ts'", SOURCES],
  ['src/sources/c.ts', "export { spawn } from 'node:child_process'", SOURCES],
  ['src/sources/d.ts', "export { setTimeout } from 'node:timers/promises'", SOURCES],
  ['src/collectors/a.ts', "export { createExec } from '../sources/exec.ts'", COLLECTORS],
  ['src/collectors/b.ts', "export { createServer } from '../exporter/server.ts'", COLLECTORS],
  ['src/collectors/c.ts', "export { Gauge } from 'prom-client'", COLLECTORS],
  ['src/collectors/parts/a.ts', "export { createExec } from '../../sources/exec.ts'", COLLECTORS],
  ['src/collectors/parts/b.ts', "export type { Config } from '../../config/schema.ts'", COLLECTORS],
  [
    'src/collectors/parts/x/a.ts',
    "export { createExec } from '../../../sources/exec.ts'",
    COLLECTORS,
  ],
  [
    'src/collectors/parts/x/b.ts',
    "export type { Config } from '../../../config/schema.ts'",
    COLLECTORS,
  ],
  ['src/keys/a.ts', "export { readFile } from 'node:fs/promises'", KEYS],
  ['src/keys/c.ts', "export { secretFiles } from '../sources/secret-files.ts'", KEYS],
  ['src/keys/b.ts', "export { x } from '../collectors/x.ts'", KEYS],
  ['src/simulator/native/f.ts', "export { metrics } from '../../metrics.ts'", SIMULATOR],
  ['src/collectors/d.ts', "export { execa } from 'execa'", COLLECTORS],
  ['src/collectors/f.ts', "export type { Config } from '../config/schema.ts'", COLLECTORS],
  ['src/collectors/e.ts', "export const ask = async () => fetch('http://x/')", FETCH],
  ['dashboards/build/a.ts', "export { metrics } from '../../src/metrics.ts'", DASHBOARDS],
  ['dashboards/build/node/b.ts', "export { metrics } from '../../../src/metrics.ts'", DASHBOARDS],
  ['dashboards/build/c.ts', "export { execa } from 'execa'", DASHBOARDS],
  ['src/exporter/a.ts', "export { x } from '../collectors/x.ts'", EXPORTER],
  ['src/exporter/b.ts', "export { Registry } from 'prom-client'", EXPORTER],
  [
    'src/exporter/registry.ts',
    "export { Router } from 'express'",
    'The registry joins the catalogue, the board and prom-client.',
  ],
  ['src/exporter/c.ts', "export { createExec } from '../sources/exec.ts'", EXPORTER],
  ['src/simulator/a.ts', "export { metrics } from '../metrics.ts'", SIMULATOR],
  ['src/simulator/b.ts', "export { parseX } from '../parsers/x.ts'", SIMULATOR],
  ['src/simulator/c.ts', "export { z } from 'zod'", SIMULATOR],
  ['src/simulator/rpc/d.ts', "export { metrics } from '../../metrics.ts'", SIMULATOR],
  ['src/simulator/tools/e.ts', "export { parseX } from '../../parsers/x.ts'", SIMULATOR],
  ['src/core/a.ts', "export { parseX } from '../parsers/x.ts'", CORE],
  ['src/core/b.ts', "export { setTimeout } from 'node:timers/promises'", CORE],
  ['src/core/c.ts', 'export const in5 = (f: () => void) => setTimeout(f, 5)', CLOCK],
  ['src/core/d.ts', 'export const stop = (): void => process.exit(1)', EXIT],
  [
    'src/core/clock.ts',
    "export { readFile } from 'node:fs/promises'",
    'The clock is timers alone.',
  ],
  [
    'src/config/a.ts',
    "export { x } from '../collectors/x.ts'",
    'The configuration knows core and the catalogue, and none of the parts it configures.',
  ],
  ['src/metrics.ts', "export { z } from 'zod'", 'The catalogue is data and depends on nothing.'],
  [
    'src/agent.ts',
    "export { runAgent } from './cli/run.ts'",
    'What puts parts together joins our own parts and imports nothing above it.',
  ],
  [
    'src/main.ts',
    "export { createExec } from './sources/exec.ts'",
    'main.ts turns argv into a command of cli/ and does nothing else.',
  ],
  ['src/cli/a.ts', "export { execa } from 'execa'", CLI],
  ['src/cli/b.ts', "export { readRpc } from '../sources/rpc.ts'", CLI],
  ['src/cli/c.ts', "export { spawn } from 'node:child_process'", CLI],
  ['src/cli/d.ts', "export const home = process.env['HOME']", ENV],
  [
    'src/cli/child.ts',
    "export { readRpc } from '../sources/rpc.ts'",
    'A child of the demo is this program once more; it obtains no bytes itself.',
  ],
  ['src/cli/e.ts', "export { createQueryClient } from '../query/client/client.ts'", CLI],
  ['src/query/client/a.ts', "export { readRpc } from '../../sources/rpc.ts'", QUERY],
  ['src/query/client/b.ts', "export { createLedger } from '../../tokens/ledger.ts'", QUERY],
  ['src/query/client/c.ts', "export { readFile } from 'node:fs/promises'", QUERY],
  ['src/query/client/d.ts', "export { execa } from 'execa'", QUERY],
  ['src/query/client/e.ts', "export const ask = async () => fetch('http://x/')", FETCH],
  ['src/query/client/f.ts', "export type { Config } from '../../config/schema.ts'", QUERY],
  ['src/query/store/a.ts', "export { readFile } from 'node:fs/promises'", STORE],
  [
    'src/query/store/duckdb/a.ts',
    "export { createIngest } from '../../service/ingest/ingest.ts'",
    STORE,
  ],
  ['src/query/store/duckdb/b.ts', "export { execa } from 'execa'", STORE],
  [
    'src/query/service/api/a.ts',
    "export { openDuckDbStore } from '../../store/duckdb/open.ts'",
    SERVICE,
  ],
  ['src/query/service/ingest/a.ts', "export { readRpc } from '../../../sources/rpc.ts'", SERVICE],
  [
    'src/query/service/ingest/b.ts',
    "export { createQueryClient } from '../../client/client.ts'",
    SERVICE,
  ],
  ['src/query/service/ingest/c.ts', "export { readFile } from 'node:fs/promises'", SERVICE],
  ['src/tokens/a.ts', "export { createQueryClient } from '../query/client/client.ts'", TOKENS],
  ['src/tokens/b.ts', "export { readFile } from 'node:fs/promises'", TOKENS],
  ['src/tokens/c.ts', "export { z } from 'zod'", TOKENS],
  ['src/tokens/d.ts', "export type { Config } from '../config/schema.ts'", TOKENS],
  ['test/a.test.ts', "import { vi } from 'vitest'\nvi.mock('../src/core/clock.ts')", MOCK],
] as const

const ACCEPTED = [
  ['src/parsers/ok.ts', "export { ParseError } from '../core/errors.ts'\nexport { z } from 'zod'"],
  ['src/sources/ok.ts', "export { execa } from 'execa'\nexport { x } from '../core/errors.ts'"],
  ['src/collectors/parts/ok.ts', "export type { Exec } from '../../sources/exec.ts'"],
  ['src/collectors/ok.ts', "export type { Exec } from '../sources/exec.ts'"],
  ['src/exporter/ok.ts', "export { Router } from 'express'\nexport { b } from '../core/board.ts'"],
  ['src/simulator/ok.ts', "export { createServer } from 'node:http'"],
  ['dashboards/build/ok.ts', "export { parse } from 'yaml'\nexport { a } from './panels/a.ts'"],
  [
    'src/query/client/ok.ts',
    "export { request } from 'node:http'\nexport { second } from '../../core/units.ts'",
  ],
  [
    'src/query/store/duckdb/ok.ts',
    "export { DuckDBInstance } from '@duckdb/node-api'\nexport { StoreError } from '../errors.ts'\nexport { LOG_FIELDS } from '../../log-fields.ts'",
  ],
  [
    'src/query/service/api/ok.ts',
    "export { gzip } from 'node:zlib'\nexport { StoreError } from '../../store/errors.ts'\nexport type { Observed } from './observed.ts'",
  ],
  [
    'src/tokens/ok.ts',
    "export type { Page } from '../query/client/types.ts'\nexport { keccak_256 } from '@noble/hashes/sha3.js'\nexport { QueryError } from '../query/client/errors.ts'",
  ],
  ['src/config/ok.ts', "export const home = process.env['HOME']"],
  ['test/ok.test.ts', "import { vi } from 'vitest'\nexport const spy = vi.fn()"],
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

let directory = ''
const said = new Map<string, string>()

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'chain-layers-'))
  await copyFile('.oxlintrc.json', join(directory, '.oxlintrc.json'))
  for (const [file, text] of [...REFUSED, ...ACCEPTED]) {
    await mkdir(dirname(join(directory, file)), { recursive: true })
    await writeFile(join(directory, file), `${text}\n`)
  }
  const oxlint = resolve('node_modules/oxlint/bin/oxlint')
  const { stdout } = await run(process.execPath, [oxlint, '-f', 'json'], { cwd: directory })
  for (const { filename, code, message, help } of report.parse(JSON.parse(stdout)).diagnostics) {
    if (code.includes('no-restricted-')) said.set(filename, `${message} ${help ?? ''}`)
  }
})

afterAll(async () => {
  await rm(directory, { recursive: true })
})

describe('the layers', () => {
  it.each(REFUSED)('refuse in %s: %s', (file, _, message) => {
    expect(said.get(file)).toContain(message)
  })

  it.each(ACCEPTED)('accept in %s: %s', (file) => {
    expect(said.get(file)).toBe(undefined)
  })
})
