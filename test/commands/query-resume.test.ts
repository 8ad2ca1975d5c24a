import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { temporaryFolder } from '../support/directory.ts'
import { eventually } from '../support/eventually.ts'
import { must, start } from '../support/programs.ts'
import { type QueryServer, startQueryServer } from '../support/query-server.ts'
import { history, TOKEN } from '../support/token-logs.ts'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const PAGES = [0, 1, 2, 3, 4]
const BLOCKS_A_PAGE = 2

const directory = await temporaryFolder()
let server: QueryServer
beforeAll(async () => {
  const blocks = PAGES.length * BLOCKS_A_PAGE
  server = await startQueryServer({
    logs: history(blocks),
    height: blocks + 300,
    pageBlocks: BLOCKS_A_PAGE,
  })
})
afterAll(async () => server.close())

/** The next block in the checkpoint of an output; 0 without a checkpoint. */
const nextIn = async (file: string): Promise<number> => {
  const text = await readFile(`${file}.checkpoint`, 'utf8').catch(() => undefined)
  const [head = ''] = text?.split('\n') ?? []
  return text === undefined ? 0 : headSchema.parse(JSON.parse(head)).mark.next
}
const headSchema = z.object({ mark: z.object({ next: z.number() }) })

const LAST = String(PAGES.length * BLOCKS_A_PAGE - 1)
const COMMANDS = {
  query: ['query', '--format', 'csv', '--fields', 'topic1,topic2,data'],
  balances: ['balances', '--standard', 'erc20', '--token', TOKEN, '--format', 'json'],
} as const

describe.each(Object.entries(COMMANDS))('%s', (name, words) => {
  const argv = (file: string): string[] => [
    MAIN,
    ...words,
    ...`--url ${server.url} --to-block ${LAST} --output ${file} --resume --quiet`.split(' '),
  ]
  const whole = async (file: string): Promise<string> => {
    await must(process.execPath, argv(file))
    return readFile(file, 'utf8')
  }

  it('a run that is killed at every page and resumed creates the same file', async () => {
    server.faults = () => undefined
    const expected = await whole(join(directory, `${name}-at-once`))
    expect(expected.length).toBeGreaterThan(300)
    const file = join(directory, name)
    const begun: number[] = []
    const saved: number[] = []
    for (const page of PAGES) {
      const block = page * BLOCKS_A_PAGE
      // This page never gets a response.
      server.faults = (seen) => (seen.path === '/query' && seen.from >= block ? { kind: 'hang' } : undefined)
      const before = server.seen.length
      const running = start(process.execPath, argv(file))
      const asked = await eventually(
        () => server.seen.slice(before).flatMap(({ from }) => (from < 0 ? [] : [from])),
        (blocks) => blocks.some((from) => from >= block),
        { every: 20 },
      )
      // The checkpoint is written after the first page of a run, then as often as its cost allows.
      await eventually(
        async () => nextIn(file),
        (next) => page === 0 || next > 0,
      )
      await running.stop('SIGKILL')
      begun.push(Math.min(...asked))
      saved.push(await nextIn(file))
    }
    server.faults = () => undefined
    expect(await whole(file)).toBe(expected)
    // Each run starts at the checkpoint of the one before.
    expect(begun).toEqual([0, ...saved.slice(0, -1)])
    expect(saved.at(-1)).toBeGreaterThan(0)
  })
})
