import { access, readdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { expect } from 'vitest'
import { runCli } from '../../../src/cli/program.ts'
import { READER_GONE } from '../../../src/terminal/io.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { createProgressLine } from '../../../query/commands/query/report.ts'
import { cli, startCli } from '../../support/cli.ts'
import { it as directoryTest } from '../../support/directory.ts'
import { eventually } from '../../support/eventually.ts'
import { startQueryServer } from '../../support/query-server.ts'
import { textStream } from '../../support/text-stream.ts'
import { history, TOKEN } from '../../support/token-logs.ts'

const it = directoryTest
  // Five pages; the third never gets a response.
  .extend('server', async ({ onTestFinished }) => {
    const server = await startQueryServer({
      logs: history(10),
      height: 300,
      pageBlocks: 2,
      faults: ({ path, from }) => (path === '/query' && from >= 4 ? { kind: 'hang' } : undefined),
    })
    onTestFinished(server.close)
    return server
  })
  /** A command that is interrupted while it waits for the third page. */
  .extend('ended', ({ server }) => async (argv: readonly string[], reason: unknown = 'Ctrl-C', block = 4) => {
    if (block < 4)
      server.faults = ({ path, from }) => (path === '/query' && from >= block ? { kind: 'hang' } : undefined)
    const before = server.seen.length
    const running = startCli([...argv, '--url', server.url])
    await eventually(() => server.seen.slice(before).some(({ from }) => from >= block), true, { every: 5 })
    return running.interrupt(reason)
  })

const BALANCES = ['balances', '--standard', 'erc20', '--token', TOKEN] as const

it('balances: without a checkpoint file the run cannot be resumed', async ({ ended }) => {
  const { code, out, err } = await ended(BALANCES)
  expect({ code, out }).toEqual({ code: 130, out: '' })
  expect(err).toContain('nothing was written')
})

it('query --height: Ctrl-C ends a wait of ten minutes at once', async ({ server }) => {
  server.faults = () => ({ kind: 'reply', status: 503, headers: { 'retry-after': '600' } })
  const running = startCli(['query', '--height', '--url', server.url])
  await eventually(running.err.text, (text) => text.includes('retrying in 600 s'), { every: 5 })
  expect(await running.interrupt()).toMatchObject({ code: 130, out: '' })
})

it('query: reports an incomplete output, but not after a closed pipe', async ({ ended }) => {
  const words = ['query', '--fields', 'topic0']
  const { code, out, err } = await ended(words)
  expect(code).toBe(130)
  expect(out.trim().split('\n')).toHaveLength(8)
  expect(err).toBe('Interrupted; the output is not complete.\n')
  expect(await ended(words, READER_GONE)).toMatchObject({ code: 0, err: '' })
})

it('query: fetches nothing more after an output error', async ({ server }) => {
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

it.for([[['query', '--format', 'csv']], [['query', '--format', 'ndjson']], [[...BALANCES, '--format', 'csv']]])(
  '%j: a run that ends before its first page leaves nothing, and the next one starts',
  async ([words = []], { directory, ended, server }) => {
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

it('query: a run that ends before the first page of the new chain leaves nothing', async ({
  directory,
  ended,
  server,
}) => {
  const argv = [...FILE, '-o', join(directory, 'logs.csv')]
  expect((await ended(argv)).code).toBe(130)
  server.chain.reorg(2, [])
  server.faults = ({ path, from }) => (path === '/query' && from === 0 ? { kind: 'reply', status: 400 } : undefined)
  expect((await cli([...argv, '--url', server.url])).code).toBe(1)
  expect(await readdir(directory)).toEqual([])
})

it('query: the checkpoint of a complete run is not used by the next', async ({ directory, ended }) => {
  const file = join(directory, 'logs.csv')
  expect((await ended([...FILE, '-o', file])).code).toBe(130)
  // As if the run had been killed between its last two steps.
  await rename(`${file}.partial`, file)
  const stopped = await ended([...FILE, '-o', file], 'Ctrl-C', 0)
  expect(stopped.code).toBe(130)
  await expect(access(`${file}.checkpoint`)).rejects.toThrow('ENOENT')
})

it('query: after a deep reorg the output has only the new chain', async ({ directory, ended, server }) => {
  const [file, other] = ['logs.csv', 'at-once.csv'].map((name) => join(directory, name))
  const { code, err } = await ended([...FILE, '-o', `${file}`])
  expect(code).toBe(130)
  expect(err).toBe(`Interrupted; ${file} is not complete. Run the same command with --resume to continue.\n`)
  server.faults = () => undefined
  server.chain.reorg(
    2,
    history(1)
      .slice(0, 1)
      .map((log) => ({ ...log, block: 5, data: `0x${'7'.repeat(64)}` })),
  )
  const [resumed = '', atOnce] = await Promise.all(
    [file, other].map(async (output) => {
      expect((await cli([...FILE, '-o', `${output}`, '--url', server.url])).code).toBe(0)
      return readFile(`${output}`, 'utf8')
    }),
  )
  expect(resumed.trim().split('\n')).toHaveLength(6)
  expect(resumed).toBe(atOnce)
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
