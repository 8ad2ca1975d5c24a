import { access, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cli, startCli } from '../../support/cli.ts'
import { type ContractResponse, startContractNode } from '../../support/contract-node.ts'
import { eventually } from '../../support/eventually.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { run } from '../../support/programs.ts'
import { type QueryServer, type QueryServerOptions, startQueryServer } from '../../support/query-server.ts'
import { ADA, BOB, history, move, TOKEN, transfer, ZERO } from '../../support/token-logs.ts'

let directory = ''
const ends: (() => Promise<unknown>)[] = []
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'chain-agent-safe-'))
})
afterEach(async () => {
  await Promise.all(ends.splice(0).map(async (end) => end()))
  await rm(directory, { recursive: true })
})

const serve = async (options: QueryServerOptions = {}): Promise<QueryServer> => {
  const server = await startQueryServer({ logs: history(5), height: 300, ...options })
  ends.push(async () => server.close())
  return server
}

const node = async (say: (data: string) => ContractResponse) => {
  const started = await startContractNode(say)
  ends.push(started.close)
  return started
}

const words = ({ url }: QueryServer, standard: string, ...more: readonly string[]): string[] => [
  ...`balances --url ${url} --standard ${standard} --token ${TOKEN}`.split(' '),
  ...more,
]

/** Interrupted as soon as it waits for a response that never arrives. */
const ended = async (argv: readonly string[], isWaiting: () => boolean) => {
  const running = startCli(argv)
  await eventually(isWaiting, (is) => is, { every: 5 })
  const { code, out, err } = await running.interrupt()
  return { code, text: out + err }
}

describe('the result is not lost', () => {
  it('if it is interrupted during --verify', async () => {
    const server = await serve({ pageBlocks: 20 })
    const rpc = await node(() => 'hang')
    const file = join(directory, 'holders.csv')
    const argv = words(server, 'erc20', '--format', 'csv', '-o', file, '--to-block', '99')
    const verifying = [...argv, '--resume', '--verify', '5', '--rpc', rpc.url]
    const { code, text } = await ended(verifying, () => rpc.requests.length > 0)
    expect(code).toBe(130)
    expect(text).toContain(`the checkpoint is in ${file}.checkpoint`)
    const before = server.seen.length
    expect((await cli([...argv, '--resume'])).code).toBe(0)
    // No block is fetched twice.
    expect(server.seen.slice(before).filter(({ path }) => path === '/query')).toEqual([])
    expect(await readFile(file, 'utf8')).toBe(`address,balance\n${ADA},35\n${BOB},15\n`)
    expect(await readdir(directory)).toEqual(['holders.csv'])
  })
  it('because an output that cannot be written is rejected before the first request', async () => {
    const server = await serve()
    await mkdir(join(directory, 'there'))
    for (const file of [join(directory, 'there'), join(directory, 'no', 'file')]) {
      for (const argv of [words(server, 'erc20'), ['query', '--url', server.url]]) {
        const { code, err } = await cli([...argv, '-o', file])
        expect(code).toBe(1)
        expect(err).toContain(`Could not write ${file}`)
      }
    }
    expect(server.seen).toEqual([])
  })
  it('and a missing checkpoint is not mentioned', async () => {
    const server = await serve({ faults: () => ({ kind: 'hang' }) })
    const argv = words(server, 'erc20', '-o', join(directory, 'file'))
    const { text } = await ended(argv, () => server.seen.length > 0)
    expect(text).toContain('there is no checkpoint yet')
  })
  it('and a complete older file is not replaced by an incomplete one', async () => {
    const file = join(directory, 'holders.json')
    await writeFile(file, 'older')
    const server = await serve({
      pageBlocks: 2,
      faults: ({ path, from }) => (path === '/query' && from >= 4 ? { kind: 'close' } : undefined),
    })
    const clock = manualClock()
    const running = cli(words(server, 'erc20', '--format', 'json', '-o', file), { clock })
    let isOver = false
    void running.finally(() => {
      isOver = true
    })
    while (!isOver) await clock.advance(50)
    const { code, err } = await running
    expect(code).toBe(4)
    expect(err).toContain('is unchanged')
    expect(await readFile(file, 'utf8')).toBe('older')
    expect(await readFile(`${file}.partial`, 'utf8')).toContain('"complete":false')
  })
  it('and an output that could not be written leaves no part of it', async () => {
    const server = await serve({ height: 5, guard: false })
    const argv = words(server, 'erc20', '--format', 'json', '-o', join(directory, 'holders.json'))
    const { code, stderr } = await run('prlimit', ['--fsize=100', process.execPath, 'dist/main.js', ...argv])
    expect([code, stderr]).toEqual([1, expect.stringContaining('holders.json.partial')])
    expect(await readdir(directory)).toEqual([])
  })
  it('and the checkpoint does not block a run with the advised standard', async () => {
    const server = await serve({ logs: [move({ block: 1 }, { from: ZERO, to: ADA, value: 7n })] })
    const file = join(directory, 'holders.csv')
    const more = ['--format', 'csv', '-o', file, '--resume']
    expect((await cli(words(server, 'erc20', ...more))).code).toBe(2)
    await expect(access(`${file}.checkpoint`)).rejects.toThrow('ENOENT')
    expect((await cli(words(server, 'erc721', ...more))).code).toBe(0)
    expect(await readFile(file, 'utf8')).toBe(`address,id,balance\n${ADA},7,1\n`)
  })
})

describe('notes on standard error, also for CSV', () => {
  const csv = async (server: QueryServer, standard: string, ...more: readonly string[]) =>
    (await cli(words(server, standard, '--format', 'csv', ...more))).err.replaceAll(/\s+/g, ' ')
  const mint = { from: ZERO, to: ADA, value: 100n }

  it('count the logs that were not applied and the ambiguous ones', async () => {
    const plain = transfer({ block: 1 }, mint)
    const short = { ...transfer({ block: 2 }, mint), data: '0x05' }
    expect(await csv(await serve({ logs: [plain, short] }), 'erc20')).toContain(
      'Not applied: 1 malformed. The transfers of these logs are not included.',
    )
    const [topic = null] = plain.topics
    const data = `0x${[ZERO, ADA].map((one) => one.slice(2).padStart(64, '0')).join('')}${'7'.padStart(64, '0')}`
    const kitty = { ...plain, topics: [topic, null, null, null], data }
    expect(await csv(await serve({ logs: [kitty] }), 'erc20')).toContain(
      'Unusual: 1 unindexed. Ambiguous: the logs do not distinguish ERC-20 from ERC-721',
    )
  })
  it('report an empty result and the last block', async () => {
    const said = await csv(await serve({ logs: [] }), 'erc1155', '--to-block', '5000')
    expect(said).toContain('No transfer event of erc1155 was found. Check the contract address and the standard.')
    expect(said).toContain('Through block 300, not 5000: the service has no later block yet.')
    expect(await csv(await serve(), 'erc20')).toMatch(/^Unverified: [^:]+ Through block 300\. $/)
  })
  it('report a sender that did not own the token', async () => {
    const logs = [move({ block: 1 }, { from: BOB, to: ADA, value: 7n })]
    expect(await csv(await serve({ logs }), 'erc721')).toContain(
      'Not conserving: by its events a sender did not own the token.',
    )
  })
  it('edge case 38: removed logs are not applied', async () => {
    const logs = [
      transfer({ block: 1 }, mint),
      { ...transfer({ block: 2 }, { from: ADA, to: BOB, value: 5n }), removed: true },
    ]
    const { out, err } = await cli(words(await serve({ logs }), 'erc20', '--format', 'csv'))
    expect(out).toBe(`address,balance\n${ADA},100\n`)
    expect(err).toContain('Not applied: 1 removed. The transfers of these logs are not included.')
  })
  it('--from-block 0 is not partial', async () => {
    const argv = words(await serve(), 'erc20', '--from-block', '0', '--format', 'json')
    expect(JSON.parse((await cli(argv)).out)).toMatchObject({ partial: false, supply: '50' })
  })
  it('--created-in is not partial and requests no earlier block', async () => {
    const server = await serve()
    const argv = words(server, 'erc20', '--created-in', '1', '--format', 'json')
    expect(JSON.parse((await cli(argv)).out)).toMatchObject({ partial: false, supply: '40' })
    expect(server.seen.find(({ path }) => path === '/query')?.body).toContain('"from_block":1,')
  })
  it('--created-in does not hide earlier balances', async () => {
    const logs = [transfer({ block: 3 }, { from: ADA, to: BOB, value: 5n })]
    const argv = words(await serve({ logs }), 'erc20', '--created-in', '2', '--format', 'json')
    const { out, err } = await cli(argv)
    expect(JSON.parse(out)).toMatchObject({ partial: false, nonConserving: true, supply: null })
    expect(err).toContain('Not conserving')
  })
})

describe('--verify', () => {
  const verify = async (server: QueryServer, standard: string, say: (data: string) => ContractResponse) => {
    const rpc = await node(say)
    const argv = words(server, standard, '--verify', '9', '--rpc', rpc.url)
    const { code, err } = await cli(argv)
    return { code, err: err.replaceAll(/\s+/g, ' '), asked: rpc.requests }
  }

  it('edge case 17: compares the supply, which reveals mints without events', async () => {
    const { code, err } = await verify(await serve(), 'erc20', (data) => {
      if (data === '0x18160ddd') return 51n
      return data.endsWith(ADA.slice(2)) ? 35n : 15n
    })
    expect(code).toBe(1)
    expect(err).toContain('Verified: 2 of 2 match the contract.')
    expect(err).toContain('Different: supply: 50 by events (minted less burned), 51 by the contract.')
  })
  it('prints the first differences; JSON has all', async () => {
    const logs = Array.from({ length: 25 }, (_, at) =>
      transfer({ block: 1, index: at }, { from: ZERO, to: `0x${String(at + 11).repeat(20)}`, value: 5n }),
    )
    const rpc = await node(() => 6n)
    const argv = words(await serve({ logs }), 'erc20', '--verify', '99', '--rpc', rpc.url)
    const { err, out } = await cli([...argv, '--format', 'json'])
    expect(err.match(/Different: 0x/g)).toHaveLength(20)
    expect(err).toContain('The first 20 of 25 differences; --format json has all.')
    expect(out.match(/"theirs":"6"/g)).toHaveLength(26)
  })
  it('reports a token without an owner', async () => {
    const logs = [move({ block: 1 }, { from: ZERO, to: ADA, value: 7n })]
    const refusal = 'execution reverted: index out of range'
    const { code, err } = await verify(await serve({ logs }), 'erc721', () => ({ refusal }))
    expect(code).toBe(1)
    expect(err).toContain(`Different: ${ADA}, id 7: ${ADA} by events, no owner`)
    // The error concerns neither the amount nor a missing state.
    const amount = await verify(await serve(), 'erc20', () => ({ refusal }))
    expect(amount.code).toBe(1)
    expect(amount.err).toContain('2 could not be checked: "execution reverted')
  })
  it('checks the first and the last token of a range', async () => {
    const word = (text: string): string => `0x${text.replace('0x', '').padStart(64, '0')}`
    // The published selector.
    const topic = '0xdeaa91b6123d068f5821d0fb0678463d1a8a6079fe8af5de3ce5e896dcf9133d'
    const range = {
      ...transfer({ block: 1 }, { from: ZERO, to: ADA, value: 0n }),
      topics: [topic, word('1'), word(ZERO), word(ADA)],
      data: word('32'),
    }
    const { code, err, asked } = await verify(await serve({ logs: [range] }), 'erc721', () => BigInt(ADA))
    expect(code).toBe(0)
    expect(err).toContain('Verified: 2 of 2 match the contract.')
    expect(asked.map((body) => /0+(\d+)"},/.exec(body)?.[1])).toEqual(['1', '32'])
    const nothing = await verify(await serve({ logs: [] }), 'erc721', () => 0n)
    expect(nothing.err).toContain('Verified: no holder to check.')
  })
})
