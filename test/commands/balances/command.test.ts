import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { cli } from '../../support/cli.ts'
import { startContractNode } from '../../support/contract-node.ts'
import { manualClock } from '../../support/manual-clock.ts'
import {
  type QueryServer,
  type QueryServerOptions,
  type Seen,
  startQueryServer,
} from '../../support/query-server.ts'
import { ADA, BOB, history, move, TOKEN, transfer, ZERO } from '../../support/token-logs.ts'

let directory = ''
const ends: (() => Promise<unknown>)[] = []
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'chain-agent-balances-'))
})
afterEach(async () => {
  await Promise.all(ends.splice(0).map(async (end) => end()))
  await rm(directory, { recursive: true })
})

const serve = async (options: QueryServerOptions = {}): Promise<QueryServer> => {
  const server = await startQueryServer({ logs: history(5), height: 9, ...options })
  ends.push(async () => server.close())
  return server
}

const argv = ({ url }: { readonly url: string }, ...more: readonly string[]): readonly string[] => [
  'balances',
  '--url',
  url,
  '--standard',
  'erc20',
  '--token',
  TOKEN,
  ...more,
]

/** Its contract has 35 of Ada's and 14 of Bob's, one less than by his events. */
const node = async (refusal?: string) => {
  const started = await startContractNode((data) => {
    if (refusal !== undefined) return { refusal }
    // As every explorer shows totalSupply().
    if (data === '0x18160ddd') return 50n
    return data.endsWith(ADA.slice(2)) ? 35n : 14n
  })
  ends.push(started.close)
  return started
}

describe('balances', () => {
  it('as JSON: exact, complete, through the height', async () => {
    const { code, out, err } = await cli(argv(await serve(), '--format', 'json', '--decimals', '1'))
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(JSON.parse(out)).toMatchObject({
      complete: true,
      through: 9,
      partial: false,
      nonConserving: false,
      hybrid: false,
      standard: 'erc20',
      token: TOKEN,
      supply: '50',
      balances: [
        { address: ADA, balance: '35', amount: '3.5' },
        { address: BOB, balance: '15', amount: '1.5' },
      ],
      stats: { logs: 10, applied: 10, malformed: 0 },
    })
    expect(JSON.parse(out)).not.toHaveProperty('balances.0.id')
  })
  it('as CSV, with the capitals of EIP-55', async () => {
    const { out } = await cli(argv(await serve(), '--format', 'csv', '--checksum'))
    expect(out).toBe(
      `address,balance\n0xaAaAaAaaAaAaAaaAaAAAAAAAAaaaAaAaAaaAaaAa,35\n0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB,15\n`,
    )
  })
  it('as a table, with the first rows of many', async () => {
    const { out } = await cli(argv(await serve(), '-n', '1'))
    expect(out).toBe(
      [
        `token   ${TOKEN}, erc20`,
        'read    through block 9',
        'supply  50',
        'rows    2',
        '',
        `${ADA}  35`,
        '1 more; --format csv has all of them.',
        '',
      ].join('\n'),
    )
  })
  it('of an ERC-721: a row a token, by its id', async () => {
    const logs = [
      move({ block: 1 }, { from: ZERO, to: ADA, value: 7n }),
      move({ block: 2 }, { from: ZERO, to: BOB, value: 2n ** 256n - 1n }),
      move({ block: 3 }, { from: ADA, to: BOB, value: 7n }),
    ]
    const server = await serve({ logs })
    const words = `balances --url ${server.url} --standard erc721 --token ${TOKEN} --format csv`
    const { out } = await cli(words.split(' '))
    expect(out).toBe(`address,id,balance\n${BOB},7,1\n${BOB},${2n ** 256n - 1n},1\n`)
    const wrong = await cli(argv(server))
    expect({ code: wrong.code, out: wrong.out }).toEqual({ code: 2, out: '' })
    expect(wrong.err).toContain('ask with the standard erc721')
  })
  it('of a part of the history: marked, negative ones kept', async () => {
    const logs = [...history(2), transfer({ block: 3 }, { from: BOB, to: ADA, value: 5n })]
    const { code, out, err } = await cli(
      argv(await serve({ logs }), '--from-block', '3', '--format', 'json'),
    )
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      complete: true,
      partial: true,
      balances: [{ balance: '5' }, { address: BOB, balance: '-5' }],
    })
    expect(err).toContain('Partial: the history before --from-block is not in it')
  })
  it.each([
    [['--from-block', '9', '--to-block', '8'], 'the last block is before the first'],
    [['--resume'], '--resume goes on from a checkpoint'],
    [['--rpc', 'http://127.0.0.1:1'], '--rpc is for --verify'],
    [['--verify', '5', '--rpc', 'localhost:1'], '--rpc: expected an http or https address'],
    [['--verify', '5', '--from-block', '4'], '--verify compares balances'],
    [['--created-in', '4', '--from-block', '4'], '--created-in says that nothing was before'],
    [['--created-in', '9', '--to-block', '8'], 'the last block is before the first'],
    [['--profile', 'punks'], 'the profile punks is of --standard erc721'],
    [['--format', 'tabl'], 'Did you mean table?'],
    [['--decimals', '1.5'], 'a number from 0 to 255'],
    [['--verify', '0'], 'a number from 1'],
  ])('%j is asked in a wrong way', async (words, expected) => {
    const server = await serve()
    const asked = await cli(argv(server, ...words))
    expect({ code: asked.code, out: asked.out }).toEqual({ code: 2, out: '' })
    expect(asked.err).toContain(expected)
    expect(server.seen).toEqual([])
  })
})

describe('what the contract says', () => {
  it('edge case 17: is compared at the last block; a difference is exit code 1', async () => {
    const { url, asked } = await node()
    const { code, out, err } = await cli(
      argv(await serve(), '--verify', '5', '--rpc', url, '--format', 'json'),
    )
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      verified: {
        asked: 2,
        equal: 1,
        untold: 0,
        different: [{ address: BOB, ours: '15', theirs: '14' }],
        supply: { ours: '50', theirs: '50' },
      },
    })
    expect(err).toContain('Verified: 1 of 2 are as the contract says; 1 are different.')
    expect(JSON.parse(asked[0] ?? '')).toMatchObject({
      method: 'eth_call',
      // The selector of balanceOf(address), as every explorer shows it.
      params: [{ to: TOKEN, data: `0x70a08231${'0'.repeat(24)}${ADA.slice(2)}` }, '0x9'],
    })
  })
  it('is not different where the node has no such state any more', async () => {
    const { url } = await node('missing trie node 12ab')
    const { code, err } = await cli(argv(await serve(), '--verify', '1', '--rpc', url))
    // Nothing was borne out.
    expect(code).toBe(1)
    expect(err).toMatch(
      /0 of 1 are as the contract says; 1 could not be asked: the node has no state of\s+that block \(/,
    )
    expect(err).not.toContain('different')
  })
})

describe('a service that goes away', () => {
  const gone = (block: number) => (seen: Seen) =>
    seen.path === '/query' && seen.from >= block ? ({ kind: 'close' } as const) : undefined
  /** What is more than 200 blocks below the height is handed over page by page. */
  const serveUntil = async (block: number): Promise<QueryServer> =>
    serve({ height: 209, pageBlocks: 2, faults: gone(block) })

  /** All waits of a command at once. */
  const hurried = async (words: readonly string[]) => {
    const clock = manualClock()
    const run = cli(words, { clock })
    let isOver = false
    void run.finally(() => {
      isOver = true
    })
    while (!isOver) await clock.advance(50)
    return run
  }

  it('in the middle: what was read is written with its mark, and ends with 4', async () => {
    const server = await serveUntil(4)
    const { code, out, err } = await hurried(argv(server, '--format', 'json', '-q'))
    expect(code).toBe(4)
    const { complete, through, unguarded } = z
      .object({ complete: z.boolean(), through: z.number(), unguarded: z.null() })
      .parse(JSON.parse(out))
    // That it is guarded is not known before its end.
    expect({ complete, through, unguarded }).toEqual({
      complete: false,
      through: 3,
      unguarded: null,
    })
    expect(err).toContain('NOT COMPLETE: it ends with block 3 of 209.')
    expect(err).not.toContain('--resume')
  })
  it('leaves no CSV, which has no place for a mark', async () => {
    const file = join(directory, 'holders.csv')
    const server = await serveUntil(4)
    const { code, err } = await hurried(argv(server, '--format', 'csv', '-o', file))
    expect(code).toBe(4)
    expect(err).toContain('Nothing was written: CSV has no place for that.')
    expect(err).toContain(`kept in ${file}.checkpoint. The same command with --resume goes on.`)
    await expect(access(file)).rejects.toThrow('ENOENT')
  })
  it('is gone on with from where it was, under the same question alone', async () => {
    const file = join(directory, 'holders.csv')
    const server = await serveUntil(4)
    const csv = argv(server, '--format', 'csv', '-o', file)
    expect((await hurried(csv)).code).toBe(4)
    const place = await readFile(`${file}.checkpoint`, 'latin1')
    expect(place).not.toContain(server.url)
    server.faults = () => undefined
    // The chain has moved on: the run ends where it was to end.
    server.chain.add([transfer({ block: 212 }, { from: ZERO, to: BOB, value: 1n })])
    server.chain.setHeight(212)
    const again = await cli(csv)
    expect(again.code).toBe(1)
    expect(again.err).toContain('an earlier run was not finished')
    const other = await cli([...csv, '--resume', '--to-block', '3'])
    expect(other.code).toBe(1)
    expect(other.err).toContain('it is of a run with other options: toBlock')
    const resumed = await cli([...csv, '--resume'])
    expect(resumed).toMatchObject({ code: 0, err: 'Through block 209.\n' })
    expect(await readFile(file, 'utf8')).toBe(`address,balance\n${ADA},35\n${BOB},15\n`)
    await expect(access(`${file}.checkpoint`)).rejects.toThrow('ENOENT')
  })
  it('is not gone on with from a checkpoint that is damaged', async () => {
    const place = join(directory, 'place')
    const server = await serveUntil(4)
    const words = argv(server, '--checkpoint', place, '--resume')
    await hurried(words)
    const bytes = await readFile(place)
    await writeFile(place, bytes.subarray(0, -1))
    server.faults = () => undefined
    const asked = await cli(words)
    expect(asked.code).toBe(1)
    expect(asked.err).toContain('it is damaged')
    await writeFile(place, bytes.toString('latin1').replace('"version":1', '"version":9'), 'latin1')
    expect((await cli(words)).err).toContain('another version of this program has written it')
  })
  it('and answers without moving on, is given up with 5 after ten requests at most', async () => {
    const server = await serve({ faults: () => ({ kind: 'stall' }) })
    const { code, out } = await hurried(argv(server, '--format', 'json'))
    expect({ code, out }).toEqual({ code: 5, out: '' })
    expect(server.seen.filter(({ path }) => path === '/query').length).toBeLessThanOrEqual(10)
  })
})
