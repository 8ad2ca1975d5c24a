import { appendFileSync } from 'node:fs'
import { access, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { runCli } from '../../../src/cli/program.ts'
import { READER_GONE } from '../../../src/terminal/io.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { createProgressLine } from '../../../query/commands/query/report.ts'
import { cli, startCli } from '../../support/cli.ts'
import { eventually } from '../../support/eventually.ts'
import { type QueryServer, startQueryServer } from '../../support/query-server.ts'
import { textStream } from '../../support/text-stream.ts'
import { history, TOKEN } from '../../support/token-logs.ts'

let directory = ''
let server: QueryServer
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'chain-agent-ended-'))
  // Five pages; the third never gets a response.
  server = await startQueryServer({
    logs: history(10),
    height: 300,
    pageBlocks: 2,
    faults: ({ path, from }) => (path === '/query' && from >= 4 ? { kind: 'hang' } : undefined),
  })
})
afterEach(async () => {
  await server.close()
  await rm(directory, { recursive: true })
})

/** A command that is interrupted while it waits for the third page. */
const ended = async (argv: readonly string[], reason: unknown = 'Ctrl-C', block = 4) => {
  if (block < 4) server.faults = ({ path, from }) => (path === '/query' && from >= block ? { kind: 'hang' } : undefined)
  const before = server.seen.length
  const running = startCli([...argv, '--url', server.url])
  await eventually(
    () => server.seen.slice(before).some(({ from }) => from >= block),
    (isWaiting) => isWaiting,
    { every: 5 },
  )
  return running.interrupt(reason)
}

const BALANCES = ['balances', '--standard', 'erc20', '--token', TOKEN] as const

it('balances: prints how to resume, and resumes to the same result', async () => {
  const file = join(directory, 'holders.csv')
  const argv = [...BALANCES, '--to-block', '9', '--format', 'csv', '-o', file, '--resume']
  const { code, out, err } = await ended(argv)
  expect({ code, out }).toEqual({ code: 130, out: '' })
  expect(err).toBe(
    `Interrupted; the checkpoint is in ${file}.checkpoint. Run the same command with --resume to continue.\n`,
  )
  await expect(access(file)).rejects.toThrow('ENOENT')
  server.faults = () => undefined
  const before = server.seen.length
  expect((await cli([...argv, '--url', server.url])).code).toBe(0)
  expect(server.seen[before + 2]?.from).toBe(4)
  expect((await readFile(file, 'utf8')).split('\n').map((line) => line.split(',')[1])).toEqual([
    'balance',
    '70',
    '30',
    undefined,
  ])
})

it('balances: without a checkpoint file the run cannot be resumed', async () => {
  const { code, out, err } = await ended(BALANCES)
  expect({ code, out }).toEqual({ code: 130, out: '' })
  expect(err).toContain('nothing was written')
})

it('query --height: Ctrl-C ends a wait of ten minutes at once', async () => {
  server.faults = () => ({ kind: 'reply', status: 503, headers: { 'retry-after': '600' } })
  const running = startCli(['query', '--height', '--url', server.url])
  await eventually(running.err.text, (text) => text.includes('retrying in 600 s'), { every: 5 })
  expect(await running.interrupt()).toMatchObject({ code: 130, out: '' })
})

it('query: reports an incomplete output, but not after a closed pipe', async () => {
  const words = ['query', '--fields', 'topic0']
  const { code, out, err } = await ended(words)
  expect(code).toBe(130)
  expect(out.trim().split('\n')).toHaveLength(8)
  expect(err).toBe('Interrupted; the output is not complete.\n')
  expect(await ended(words, READER_GONE)).toMatchObject({ code: 0, err: '' })
})

it('query: fetches nothing more after an output error', async () => {
  server.faults = () => undefined
  const stdout = new Writable({
    write: (_chunk, _, done) => {
      done(Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }))
    },
  })
  stdout.on('error', () => undefined)
  const err = textStream()
  const code = await runCli(['query', '--url', server.url, '--fields', 'data'], {
    stdin: Readable.from([]),
    stdout,
    stderr: err.stream,
    env: {},
    clock: systemClock,
    signal: new AbortController().signal,
  })
  expect(code).toBe(1)
  expect(err.text()).toContain('Could not write the rows: the disk is full\n')
  // There are 150 pages.
  expect(server.seen.length).toBeLessThan(50)
})

const FILE = ['query', '--to-block', '9', '--format', 'csv', '--fields', 'data', '--resume'] as const

/** The output file of a run that is interrupted and resumed after `between`. */
const goneOnWith = async (between: () => void): Promise<string> => {
  const file = join(directory, 'logs.csv')
  const { code, err } = await ended([...FILE, '-o', file])
  expect(code).toBe(130)
  expect(err).toContain('Run the same command with --resume to continue.')
  // The header, and two logs in each of four blocks.
  expect((await readFile(`${file}.partial`, 'utf8')).trim().split('\n')).toHaveLength(9)
  server.faults = () => undefined
  between()
  expect((await cli([...FILE, '-o', file, '--url', server.url])).code).toBe(0)
  return readFile(file, 'utf8')
}

const atOnce = async (): Promise<string> => {
  const file = join(directory, 'at-once.csv')
  await cli([...FILE, '-o', file, '--url', server.url])
  return readFile(file, 'utf8')
}

it('query: a file is resumed', async () => {
  let before = 0
  const text = await goneOnWith(() => {
    before = server.seen.length
  })
  expect(server.seen[before + 2]?.from).toBe(4)
  expect(text.trim().split('\n')).toHaveLength(21)
  expect(text).toBe(await atOnce())
})

it.each([[['query', '--format', 'csv']], [['query', '--format', 'ndjson']], [[...BALANCES, '--format', 'csv']]])(
  '%j: a run that ends before its first page leaves nothing, and the next one starts',
  async (words) => {
    const argv = [...words, '--to-block', '9', '-o', join(directory, 'logs')]
    server.faults = ({ path }) => (path === '/query' ? { kind: 'reply', status: 400 } : undefined)
    expect((await cli([...argv, '--url', server.url])).code).toBe(1)
    expect(await readdir(directory)).toEqual([])
    expect((await ended(argv, 'Ctrl-C', 0)).code).toBe(130)
    expect(await readdir(directory)).toEqual([])
    server.faults = () => undefined
    expect(await cli([...argv, '--url', server.url])).toMatchObject({ code: 0 })
    expect(await readdir(directory)).toEqual(['logs'])
  },
)

it('query: a run that ends before the first page of the new chain leaves nothing', async () => {
  const argv = [...FILE, '-o', join(directory, 'logs.csv')]
  expect((await ended(argv)).code).toBe(130)
  server.chain.reorg(2, [])
  server.faults = ({ path, from }) => (path === '/query' && from === 0 ? { kind: 'reply', status: 400 } : undefined)
  expect((await cli([...argv, '--url', server.url])).code).toBe(1)
  expect(await readdir(directory)).toEqual([])
})

it('query: a truncated row is written again', async () => {
  const text = await goneOnWith(() => {
    appendFileSync(join(directory, 'logs.csv.partial'), `4,0,0x${'0'.repeat(10_000)}`)
  })
  expect(text).toBe(await atOnce())
})

it('query: the checkpoint of a complete run is not used by the next', async () => {
  const file = join(directory, 'logs.csv')
  expect((await ended([...FILE, '-o', file])).code).toBe(130)
  // As if the run had been killed between its last two steps.
  await rename(`${file}.partial`, file)
  const stopped = await ended([...FILE, '-o', file], 'Ctrl-C', 0)
  expect(stopped.code).toBe(130)
  await expect(access(`${file}.checkpoint`)).rejects.toThrow('ENOENT')
})

it('query: after a deep reorg the output has only the new chain', async () => {
  const [log] = history(1)
  const text = await goneOnWith(() => {
    server.chain.reorg(2, log ? [{ ...log, block: 5, data: `0x${'7'.repeat(64)}` }] : [])
  })
  expect(text.trim().split('\n')).toHaveLength(6)
  expect(text).toBe(await atOnce())
})

it('progress has the position, the rate and the time left, and at most 99 %', () => {
  let elapsed = 0
  const progressLine = createProgressLine({ elapsed: () => elapsed })
  elapsed = 10_000
  const progress = { from: 100, target: 1099, retries: 0, waitedMs: 0 }
  expect(progressLine({ ...progress, through: 299, logs: 5000 })).toBe(
    'Block 299 of 1,099 (20 %), 5,000 logs, 500 logs/s, 20 blocks/s, 40 s left',
  )
  expect(progressLine({ ...progress, through: 1099, logs: 9, retries: 2, waitedMs: 65_000 })).toBe(
    'Block 1,099 of 1,099 (99 %), 9 logs, 1 logs/s, 100 blocks/s, 0 s left, 2 retries, waited 1 min 5 s',
  )
})
