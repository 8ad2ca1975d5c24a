import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { z } from 'zod'
import { QueryError } from '../../../query/client/errors.ts'
import { exitWithError } from '../../../query/commands/query/report.ts'
import { cli } from '../../support/cli.ts'
import { it } from '../../support/directory.ts'
import { always, type QueryServer, type QueryServerOptions } from '../../support/query-server.ts'
import { textStream } from '../../support/text-stream.ts'
import { testUsageErrors } from '../../support/usage-errors.ts'
import { ADA, BOB, history, TOKEN, TRANSFER } from '../../support/token-logs.ts'
import { serve as serveHistory } from '../balances/fixtures.ts'
import { withOtherContract, withOtherTopic } from './unrequested.ts'

const KEY = 'key-that-must-stay-secret-4711'
const serve = (options: QueryServerOptions = {}) => serveHistory({ height: 10, ...options })

it.each([
  ['auth', 3],
  ['protocol', 5],
  ['no-progress', 5],
  ...(['fatal', 'pruned', 'untrusted', 'limited', 'no-data', 'unreachable'] as const).map((kind) => [kind, 1] as const),
] as const)('an error of the kind %s ends with exit code %i', async (kind, expected) => {
  const { stream: stderr, text } = textStream()
  const codes: number[] = []
  const thrown = new QueryError(kind, { doing: 'fetch logs', happened: 'it failed' })
  await exitWithError({ io: { stderr }, exit: (code) => codes.push(code) }, thrown)
  expect([codes, text()]).toEqual([[expected], 'Could not fetch logs: it failed\n'])
})

describe('query --height', () => {
  it('prints a number, or JSON', async () => {
    const { url } = await serve()
    expect(await cli(['query', '--height', '--url', url])).toEqual({ code: 0, out: '10\n', err: '' })
    expect((await cli(['query', '--height', '--url', url, '--json'])).out).toBe('{"height":10}\n')
  })
  it('uses the key of a file, of the environment, in another header', async ({ directory }) => {
    const { url, seen } = await serve({ apiKey: KEY })
    const file = join(directory, 'key')
    await writeFile(file, `${KEY}\n`)
    const asked = ['query', '--height', '--url', url]
    expect((await cli([...asked, '--api-key-file', file])).out).toBe('10\n')
    expect((await cli(asked, { env: { CHAIN_AGENT_API_KEY: KEY } })).out).toBe('10\n')
    await cli([...asked, '--api-key-file', file, '--api-key-header', 'X-Key'])
    expect(seen.at(-1)?.headers).toMatchObject({ 'x-key': KEY })
    expect(seen.at(-1)?.headers).not.toHaveProperty('authorization')
  })
  it.for<[string, string | undefined, string]>([
    ['\n', undefined, ' with the API key is empty'],
    ['two words-0815\n', undefined, 'Could not use the API key: it contains a space'],
    [KEY, '', 'the API key in CHAIN_AGENT_API_KEY is empty'],
  ])('a key that can be none is exit code 3: %j, %j', async ([text, variable, expected], { directory }) => {
    const { url, seen } = await serve()
    const file = join(directory, 'key')
    await writeFile(file, text)
    const given = variable === undefined ? ['--api-key-file', file] : []
    const env = variable === undefined ? {} : { CHAIN_AGENT_API_KEY: variable }
    const { code, out, err } = await cli(['query', '--url', url, ...given], { env })
    expect({ code, out, seen }).toEqual({ code: 3, out: '', seen: [] })
    expect(err).toContain(expected)
    expect(err).not.toContain('words-0815')
  })
})

// No text has the secret of the address.
testUsageErrors(
  ['query'],
  [
    [['--url', 'https://host/?apikey=secret'], /^(?!.*secret).*--url: expected an address without a query string/s],
    [['--url', 'https://user:secret@host/'], /^(?!.*secret).*--url: expected an address without a user name/s],
    [['--url', 'secret'], /^(?!.*secret).*--url: expected an http or https address/s],
    [['--url', 'https://host', '--api-key-header', 'Host'], /^(?!.*configuration)error: invalid --api-key-header /s],
  ],
)
testUsageErrors(
  ['query', '--url', 'http://127.0.0.1:1'],
  [
    [['--fields', 'datta'], 'Did you mean data?'],
    [['--topic', '4:0x00'], 'a position from 0 to 3'],
    [['--topic', 'Transfer(addres,address,uint256)'], 'expected a topic'],
    [['--address', '0x12'], '40 hex digits'],
    [['--resume'], '--resume requires --output'],
    [['--from-block', '5', '--to-block', '4'], 'the last block is before the first'],
    [['--from-block', '1e3'], 'expected a block number'],
    [['--from-block', `${Number.MAX_SAFE_INTEGER}`], /^error: The query is invalid/],
    [['--height', '--output', 'x'], '--height fetches no logs'],
    [['--height', '--topic', TRANSFER], '--height fetches no logs'],
    [['--json'], '--json requires --height'],
    [['--timeout', '10'], 'expected a duration from 1ms to 1h, such as 10s'],
    [['--retries', '101'], 'expected a number from 0 to 100'],
  ],
)

describe('query', () => {
  const query = async (server: QueryServer, ...more: readonly string[]) => cli(['query', '--url', server.url, ...more])

  it('prints one line of JSON per log, in order, with the selected fields', async () => {
    const server = await serve()
    const asked = await query(server, '--from-block', '1', '--to-block', '2', '--fields', 'topic2,data')
    expect(asked).toMatchObject({ code: 0, err: '' })
    expect(asked.out.split('\n').slice(0, 3)).toEqual([
      `{"block_number":1,"log_index":0,"topic2":"0x${'0'.repeat(24)}${ADA.slice(2)}","data":"0x${'a'.padStart(64, '0')}"}`,
      `{"block_number":1,"log_index":1,"topic2":"0x${'0'.repeat(24)}${BOB.slice(2)}","data":"0x${'3'.padStart(64, '0')}"}`,
      `{"block_number":2,"log_index":0,"topic2":"0x${'0'.repeat(24)}${ADA.slice(2)}","data":"0x${'a'.padStart(64, '0')}"}`,
    ])
    expect(asked.out.split('\n')).toHaveLength(5)
    const { body = '' } = server.seen.find(({ path }) => path === '/query') ?? {}
    const sent = z
      .object({ to_block: z.number(), field_selection: z.object({ log: z.array(z.string()) }) })
      .parse(JSON.parse(body))
    expect(sent.to_block).toBe(3)
    expect(sent.field_selection.log.toSorted()).toEqual(
      // Added by the client, because the query is for all contracts.
      ['address', 'block_number', 'data', 'log_index', 'topic2'],
    )
  })
  it('prints CSV with a header; absent values are empty', async () => {
    const { out } = await query(await serve(), '--to-block', '0', '--format', 'csv', '--fields', 'topic3,address')
    expect(out).toBe(`block_number,log_index,topic3,address\n0,0,,${TOKEN}\n0,1,,${TOKEN}\n`)
  })
  it('sorts the logs of a page', async () => {
    const page = z.object({ data: z.array(z.object({ logs: z.array(z.unknown()) })) })
    const server = await serve()
    const expected = (await query(server)).out
    server.faults = ({ path }) =>
      path === '/query'
        ? {
            kind: 'alter',
            alter: (answer) => ({
              ...answer,
              data: page.parse(answer).data.map(({ logs }) => ({
                logs: logs.toReversed(),
              })),
            }),
          }
        : undefined
    expect((await query(server)).out).toBe(expected)
  })
  it('rejects two logs with one position, equal or different', async () => {
    const [first, second] = history(1).map((log) => ({ ...log, index: 0 }))
    for (const other of [first, second]) {
      const logs = [first, other].flatMap((log) => log ?? [])
      const asked = await query(await serve({ logs }))
      expect({ code: asked.code, out: asked.out }).toEqual({ code: 5, out: '' })
      expect(asked.err).toContain('two logs of one response have the same block_number and log_index')
      expect(asked.err).toContain('output: log_index 0 in block 0')
    }
  })
  it('reports the unexpected field and its value, without the key', async () => {
    const logs = history(1).map((log, at) => ({
      ...log,
      index: at + 3,
      data: at === 0 ? `${KEY} =1+1` : log.data,
    }))
    const { url } = await serve({ logs })
    const asked = await cli(['query', '--url', url], { env: { CHAIN_AGENT_API_KEY: KEY } })
    expect({ code: asked.code, out: asked.out }).toEqual({ code: 5, out: '' })
    expect(asked.err).toContain('expected hex digits as data of log 3 in block 0')
    expect(asked.err).toContain('output: "(redacted) =1+1"')
  })
  it('requests and prints the field removed', async () => {
    const logs = history(1).map((log, at) => ({ ...log, removed: at === 1 }))
    const { out } = await query(await serve({ logs }))
    expect(out.match(/"removed":\w+/g)).toEqual(['"removed":false', '"removed":true'])
  })
  it('filters by contract and by topics, given as addresses and signatures', async () => {
    const server = await serve()
    const { out } = await query(
      server,
      `--address=${TOKEN.toUpperCase().replace('0X', '0x')}`,
      '--topic=event Transfer(address indexed from, address indexed to, uint value)',
      `--topic=2:${BOB},${ADA}`,
      `--topic=1:${ADA}`,
    )
    // Ada sends five times; the only other sender is the zero address.
    expect(out.trim().split('\n')).toHaveLength(5)
    const sent: unknown = JSON.parse(server.seen.find(({ path }) => path === '/query')?.body ?? '')
    const padded = (address: string): string => `0x${'0'.repeat(24)}${address.slice(2)}`
    expect(sent).toMatchObject({
      logs: [{ address: [TOKEN], topics: [[TRANSFER], [padded(ADA)], [padded(BOB), padded(ADA)]] }],
    })
  })
  it.each([
    ['of another contract', withOtherContract],
    ['with another topic', withOtherTopic],
  ])('leaves out logs %s and reports how many, as balances does', async (_, alter) => {
    const server = await serve({ faults: always({ kind: 'alter', alter }) })
    const filter = ['--address', TOKEN, '--topic', TRANSFER]
    const { code, out, err } = await query(server, ...filter, '--fields', 'data', '--format', 'csv')
    const expected =
      'Left out: 5 logs of another contract or with other topics, which were not requested. A service that returns such logs may also lack requested ones: report it to its operator.'
    expect({ code, err }).toEqual({ code: 0, err: `${expected}\n` })
    expect(out.trim().split('\n')).toEqual([
      'block_number,log_index,data',
      ...[0, 1, 2, 3, 4].map((block) => `${block},0,0x${'a'.padStart(64, '0')}`),
    ])
    // Without these fields the rows that were requested could not be distinguished.
    const { body = '' } = server.seen.find(({ path }) => path === '/query') ?? {}
    expect(JSON.parse(body)).toHaveProperty('field_selection.log', expect.arrayContaining(['address', 'topic0']))
    const balances = await cli(['balances', '--url', server.url, '--standard', 'erc20', '--token', TOKEN])
    expect(balances.err.replaceAll(/\s+/g, ' ')).toContain(expected)
  })
  it('creates the output file when it is complete, and no other file', async ({ directory }) => {
    const file = join(directory, 'logs.ndjson')
    const server = await serve()
    const asked = await query(server, '--output', file)
    expect(asked).toEqual({ code: 0, out: '', err: `10 logs through block 10, in ${file}.\n` })
    expect(await readFile(file, 'utf8')).toBe((await query(server)).out)
    await expect(readFile(`${file}.partial`)).rejects.toThrow('ENOENT')
    await expect(readFile(`${file}.checkpoint`)).rejects.toThrow('ENOENT')
  })
  it('prints how to resume only if a checkpoint was written', async ({ directory }) => {
    const server = await serve({
      height: 209,
      pageBlocks: 2,
      faults: ({ path, from }) =>
        path === '/query' && from >= 4 ? { kind: 'reply', status: 200, body: '<html>' } : undefined,
    })
    const file = join(directory, 'logs.ndjson')
    const asked = await query(server, '--output', file)
    expect(asked.code).toBe(5)
    expect(asked.err).toContain(
      `The checkpoint is in ${file}.checkpoint. Run the same command with --resume to continue.\n`,
    )
    expect((await query(server)).err).not.toContain('--resume')
    server.faults = () => ({ kind: 'reply', status: 200, body: '<html>' })
    const elsewhere = await query(server, '--output', `${file}.2`)
    expect(elsewhere.code).toBe(5)
    expect(elsewhere.err).not.toContain('--resume')
  })
})

describe('a service without block hashes', () => {
  it.each([
    { dialect: 'spec' as const, isPrinted: true },
    { dialect: 'hosted' as const, isPrinted: false },
  ])('$dialect: that pages near the head are not proved is printed: $isPrinted', async (given) => {
    const { url } = await serve({ dialect: given.dialect, pageLogs: 1 })
    // --quiet does not suppress notes.
    const query = await cli(['query', '--url', url, '--address', TOKEN, '--quiet'])
    expect(query.code).toBe(0)
    expect(query.err.includes('Unproven: the service returns no block hashes')).toBe(given.isPrinted)
    const asked = ['balances', '--url', url, '--standard', 'erc20', '--token', TOKEN]
    const { out, err } = await cli([...asked, '--format', 'json'])
    expect(JSON.parse(out)).toMatchObject({ complete: true, unguarded: given.isPrinted })
    expect(err.replaceAll('\n', ' ').includes('Unproven')).toBe(given.isPrinted)
  })

  it('a last block that does not exist yet is reported', async () => {
    const { url } = await serve({ dialect: 'hosted' })
    const { code, err } = await cli(['query', '--url', url, '--to-block', '5000'])
    expect({ code, err }).toStrictEqual({
      code: 0,
      err: 'Through block 10, not 5000: the service has no later block yet.\n',
    })
  })
})
