import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { z } from 'zod'
import { cli } from '../../support/cli.ts'
import { it } from '../../support/directory.ts'
import type { Fault, QueryServer } from '../../support/query-server.ts'
import { ADA, BOB, history, move, TOKEN, transfer, ZERO } from '../../support/token-logs.ts'
import { testUsageErrors } from '../../support/usage-errors.ts'
import { argv, hurried, serve, UNVERIFIED, unwrapped, words } from './fixtures.ts'

describe('balances', () => {
  it('prints JSON: exact, complete, through the height', async () => {
    const { code, out, err } = await cli(argv(await serve(), '--format', 'json', '--decimals', '1'))
    expect({ code, err: unwrapped(err) }).toEqual({ code: 0, err: UNVERIFIED })
    expect(JSON.parse(out)).toMatchObject({
      complete: true,
      through: 9,
      partial: false,
      nonConserving: false,
      hybrid: false,
      unguarded: false,
      unverified: true,
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
  it('prints CSV, with checksum addresses (EIP-55)', async () => {
    const { out } = await cli(argv(await serve(), '--format', 'csv', '--checksum'))
    expect(out).toBe(
      `address,balance\n0xaAaAaAaaAaAaAaaAaAAAAAAAAaaaAaAaAaaAaaAa,35\n0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB,15\n`,
    )
  })
  it('prints a table with the first rows', async () => {
    const { out } = await cli(argv(await serve(), '-n', '1'))
    expect(out).toBe(
      [
        `token   ${TOKEN}, erc20`,
        'read    through block 9',
        'supply  50',
        'rows    2',
        '',
        `${ADA}  35`,
        '1 more; --format csv has all.',
        '',
      ].join('\n'),
    )
  })
  it('prints ERC-721 with one row per token, ordered by id', async () => {
    const logs = [
      move({ block: 1 }, { from: ZERO, to: ADA, value: 7n }),
      move({ block: 2 }, { from: ZERO, to: BOB, value: 2n ** 256n - 1n }),
      move({ block: 3 }, { from: ADA, to: BOB, value: 7n }),
    ]
    const server = await serve({ logs })
    const { out } = await cli(words(server, 'erc721', '--format', 'csv'))
    expect(out).toBe(`address,id,balance\n${BOB},7,1\n${BOB},${2n ** 256n - 1n},1\n`)
  })
  it('marks a balance that was below 0 in between, in JSON and, for CSV, on standard error', async () => {
    const logs = [
      transfer({ block: 1 }, { from: BOB, to: ADA, value: 10n }),
      transfer({ block: 2 }, { from: ADA, to: BOB, value: 10n }),
    ]
    const server = await serve({ logs })
    const json = await cli(argv(server, '--format', 'json'))
    expect(json.code).toBe(0)
    expect(JSON.parse(json.out)).toMatchObject({
      nonConserving: true,
      outOfRange: { block: 1, address: BOB, balance: '-10' },
      supply: null,
      balances: [],
    })
    const csv = await cli(argv(server, '--format', 'csv'))
    expect({ code: csv.code, out: csv.out }).toEqual({ code: 0, out: 'address,balance\n' })
    const note = csv.err.replaceAll(/\s+/g, ' ')
    expect(note).toContain(`Not conserving: by its events ${BOB} had -10 at the end of block 1`)
    expect(note).toContain('use --profile weth')
    expect((await cli(argv(server, '--profile', 'weth'))).err).not.toContain('--profile')
  })
  it('marks amounts that may be ids, and reads them as ERC-721', async () => {
    const logs = [7n, 8n].map((value, index) => transfer({ block: 1, index }, { from: ZERO, to: ADA, value }))
    const server = await serve({ logs })
    const amounts = await cli(argv(server, '--format', 'json'))
    expect(JSON.parse(amounts.out)).toMatchObject({ ambiguous: true, balances: [{ balance: '15' }] })
    expect(amounts.err.replaceAll(/\s+/g, ' ')).toContain('these balances are sums of ids: use --standard erc721')
    const tokens = await cli(words(server, 'erc721', '--format', 'csv'))
    expect(tokens).toMatchObject({ code: 0, out: `address,id,balance\n${ADA},7,1\n${ADA},8,1\n` })
    expect(tokens.err).toContain('Ambiguous: the logs do not distinguish ERC-20 from ERC-721.')
  })
  it('marks a partial history and keeps negative balances', async () => {
    const logs = [...history(2), transfer({ block: 3 }, { from: BOB, to: ADA, value: 5n })]
    const { code, out, err } = await cli(argv(await serve({ logs }), '--from-block', '3', '--format', 'json'))
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      complete: true,
      partial: true,
      balances: [{ balance: '5' }, { address: BOB, balance: '-5' }],
    })
    expect(err).toContain('Partial: the history before --from-block is not included')
  })
  testUsageErrors(argv({ url: 'http://127.0.0.1:1' }), [
    [['--from-block', '9', '--to-block', '8'], 'the last block is before the first'],
    [['--resume'], '--resume requires --checkpoint or --output'],
    [['--verify', '5', '--rpc', 'localhost:1'], '--rpc: expected an http or https address'],
    [['--verify', '5', '--from-block', '4'], '--verify cannot be combined with --from-block'],
    [['--created-in', '4', '--from-block', '4'], '--created-in cannot be combined with --from-block'],
    [['--created-in', '9', '--to-block', '8'], 'the last block is before the first'],
    [['--profile', 'punks'], 'the profile punks requires --standard erc721'],
    [['--format', 'tabl'], 'Did you mean table?'],
    [['--decimals', '1.5'], 'a number from 0 to 255'],
    [['--verify', '1001'], 'a number from 0 to 1000'],
  ])
})

describe('a service that becomes unreachable', () => {
  /** Blocks more than 200 below the height are delivered page by page. */
  const serveUntil = async (block: number, fault: Fault = { kind: 'close' }): Promise<QueryServer> =>
    serve({
      height: 209,
      pageBlocks: 2,
      faults: ({ path, from }) => (path === '/query' && from >= block ? fault : undefined),
    })

  it.each<[string, Fault, string]>([
    ['it ends', { kind: 'close' }, ''],
    ['a quota is used up', { kind: 'reply', status: 402, body: '{"error":"used up"}' }, '402 (used up).'],
  ])('%s: the incomplete result is marked, and the command exits with 4', async (_, fault, reason) => {
    const server = await serveUntil(4, fault)
    const { code, out, err } = await hurried(argv(server, '--format', 'json', '-q'))
    expect(code).toBe(4)
    const { complete, through, unguarded } = z
      .object({ complete: z.boolean(), through: z.number(), unguarded: z.null() })
      .parse(JSON.parse(out))
    // Known only at the end of a complete run.
    expect({ complete, through, unguarded }).toEqual({
      complete: false,
      through: 3,
      unguarded: null,
    })
    expect(err).toContain('NOT COMPLETE: the balances end with block 3 of 209.')
    expect(unwrapped(err)).toContain(reason)
    expect(err).not.toContain('--resume')
  })
  it('no CSV is written, which cannot be marked', async ({ directory }) => {
    const file = join(directory, 'holders.csv')
    const server = await serveUntil(4)
    const { code, err } = await hurried(argv(server, '--format', 'csv', '-o', file))
    expect(code).toBe(4)
    expect(err).toContain('Nothing was written: CSV cannot mark an incomplete result.')
    expect(err).toContain(`The checkpoint is in ${file}.checkpoint. Run the same command with --resume to continue.`)
    await expect(access(file)).rejects.toThrow('ENOENT')
  })
  it('resumes at the checkpoint, only with the same options', async ({ directory }) => {
    const file = join(directory, 'holders.csv')
    const server = await serveUntil(4)
    const csv = argv(server, '--format', 'csv', '-o', file)
    expect((await hurried(csv)).code).toBe(4)
    const place = await readFile(`${file}.checkpoint`, 'latin1')
    expect(place).not.toContain(server.url)
    server.faults = () => undefined
    // The chain has more blocks now: the run ends at its original target.
    server.chain.add([transfer({ block: 212 }, { from: ZERO, to: BOB, value: 1n })])
    server.chain.setHeight(212)
    const again = await cli(csv)
    expect(again.code).toBe(1)
    expect(again.err).toContain('an earlier run was not finished')
    const other = await cli([...csv, '--resume', '--to-block', '3'])
    expect(other.code).toBe(1)
    expect(other.err).toContain('it is of a run with other options: toBlock')
    const resumed = await cli([...csv, '--resume'])
    expect({ ...resumed, err: unwrapped(resumed.err) }).toMatchObject({
      code: 0,
      err: `${UNVERIFIED} Through block 209.`,
    })
    expect(await readFile(file, 'utf8')).toBe(`address,balance\n${ADA},35\n${BOB},15\n`)
    await expect(access(`${file}.checkpoint`)).rejects.toThrow('ENOENT')
  })
})
