import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { cli, type World } from '../../support/cli.ts'
import { it } from '../../support/directory.ts'
import type { QueryServer } from '../../support/query-server.ts'
import { ADA, BOB, history, move, TOKEN, transfer, ZERO } from '../../support/token-logs.ts'
import { argv, serve, startNode, TOTAL_SUPPLY, UNVERIFIED, unwrapped, words } from './fixtures.ts'

/** A contract with balances of 35 for Ada and 14 for Bob, one less than by the events. */
const oneLess = async (refusal?: string) =>
  startNode((data) => {
    if (refusal !== undefined) return { refusal }
    if (data === TOTAL_SUPPLY) return 50n
    return data.endsWith(ADA.slice(2)) ? 35n : 14n
  })

describe('--verify', () => {
  const verify = async (server: QueryServer, standard: string, respond: Parameters<typeof startNode>[0]) => {
    const rpc = await startNode(respond)
    const { code, err } = await cli(words(server, standard, '--verify', '9', '--rpc', rpc.url))
    return { code, err: unwrapped(err), asked: rpc.requests }
  }

  it('compares at the last block; a difference exits with 1', async () => {
    const { url, requests } = await oneLess()
    const { code, out, err } = await cli(argv(await serve(), '--verify', '5', '--rpc', url, '--format', 'json'))
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      verified: {
        asked: 2,
        equal: 1,
        unchecked: 0,
        different: [{ address: BOB, ours: '15', theirs: '14' }],
        supply: { ours: '50', theirs: '50' },
      },
      unverified: false,
    })
    expect(err).toContain('Verified: 1 of 2 match the contract; 1 differ.')
    expect(JSON.parse(requests[0] ?? '')).toMatchObject({
      method: 'eth_call',
      // The published selector of balanceOf(address).
      params: [{ to: TOKEN, data: `0x70a08231${'0'.repeat(24)}${ADA.slice(2)}` }, '0x9'],
    })
  })
  it('does not report a difference if the node has pruned the state', async () => {
    const { url } = await oneLess('missing trie node 12ab')
    const { code, err } = await cli(argv(await serve(), '--verify', '1', '--rpc', url))
    // No holder could be checked.
    expect(code).toBe(1)
    expect(err).toMatch(/0 of 1 match the contract; 1 could not be checked: the node has no state of that\s+block \(/)
    expect(err).not.toContain('differ')
  })
  it('prints the first differences; JSON has all', async () => {
    const logs = Array.from({ length: 25 }, (_, at) =>
      transfer({ block: 1, index: at }, { from: ZERO, to: `0x${String(at + 11).repeat(20)}`, value: 5n }),
    )
    const rpc = await startNode(() => 6n)
    const { err, out } = await cli(
      words(await serve({ logs }), 'erc20', '--verify', '99', '--rpc', rpc.url, '--format', 'json'),
    )
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

describe('the comparison by default', () => {
  /** What `history` gives after five blocks: Ada has 35 and Bob 15. */
  const right = (data: string): bigint => (data === TOTAL_SUPPLY ? 50n : data.endsWith(ADA.slice(2)) ? 35n : 15n)
  const start = (server: QueryServer, respond: Parameters<typeof startNode>[0] = right) =>
    startNode(respond, (block) => server.chain.hash(block))
  const ask = async (server: QueryServer, options: readonly string[], world: World = {}) => {
    const { code, out, err } = await cli(argv(server, '--format', 'json', ...options), world)
    const result: unknown = JSON.parse(out)
    return { code, result, err: unwrapped(err) }
  }
  const configOf = async (url: string, directory: string): Promise<World> => {
    const installedConfig = join(directory, 'config.yaml')
    await writeFile(installedConfig, `rpc:\n  url: ${url}\n`)
    return { installedConfig }
  }

  it('with the RPC of the configuration, or --rpc: all holders of a few, and the supply', async ({ directory }) => {
    const server = await serve()
    const { url, requests } = await start(server)
    for (const [options, world] of [
      [['--rpc', url], {}],
      [[], await configOf(url, directory)],
    ] as const) {
      requests.length = 0
      const { code, result, err } = await ask(server, options, world)
      expect({ code, err }).toEqual({ code: 0, err: 'Verified: 2 of 2 match the contract.' })
      expect(result).toMatchObject({
        unverified: false,
        verified: { asked: 2, equal: 2, different: [], supply: { ours: '50', theirs: '50' } },
      })
      // The block, two holders, the supply.
      expect(requests).toHaveLength(4)
    }
  })
  it('not with --verify 0, and not without a configuration', async ({ directory }) => {
    const server = await serve()
    const { url, requests } = await start(server)
    for (const [options, world] of [
      [['--verify', '0'], await configOf(url, directory)],
      [[], { installedConfig: join(directory, 'none.yaml') }],
      // Which cannot be read.
      [[], { installedConfig: directory }],
    ] as const) {
      const { code, result, err } = await ask(server, options, world)
      expect({ code, err }).toEqual({ code: 0, err: UNVERIFIED })
      expect(result).toMatchObject({ unverified: true })
      expect(result).not.toHaveProperty('verified')
    }
    expect(requests).toEqual([])
  })
  it('balances that differ, as of logs that the service left out, exit with 1', async () => {
    const server = await serve()
    const { url } = await start(server, (data) => right(data) + 1n)
    const { code, result, err } = await ask(server, ['--rpc', url])
    expect(code).toBe(1)
    expect(result).toMatchObject({ complete: true, verified: { different: [{ ours: '35', theirs: '36' }, {}] } })
    expect(err).toContain('or the service left out logs')
  })
  it.for<[string, number, readonly string[]]>([
    ['is a note', 0, []],
    ['exits with 1 if --verify asks for the comparison', 1, ['--verify', '9']],
  ])('a different supply alone %s', async ([, expected, options]) => {
    const server = await serve()
    const { url } = await start(server, (data) => (data === TOTAL_SUPPLY ? 51n : right(data)))
    const { code, err } = await ask(server, ['--rpc', url, ...options])
    expect(code).toBe(expected)
    expect(err).toContain('Verified: 2 of 2 match the contract.')
    expect(err).toContain('Different: supply: 50 by events (minted less burned), 51 by the contract.')
  })
  it('nothing is compared with a node of another chain, or without hashes of the service', async () => {
    const other = await serve()
    other.chain.reorg(9, [])
    const { url, requests } = await start(other, () => 0n)
    for (const [guard, reason] of [
      [true, 'the node has another block 9: another chain, or a reorg.'],
      [false, 'the service returns no block hashes, so that nothing proves that the node has the same chain.'],
    ] as const) {
      const { code, result, err } = await ask(await serve({ guard }), ['--rpc', url])
      expect(code).toBe(0)
      expect(err).toContain(`The balances were not compared with the contract: ${reason}`)
      expect(result).toMatchObject({ unverified: true })
    }
    expect(requests.filter((body) => body.includes('eth_call'))).toEqual([])
  })
  it('a node that lacks the block, fails or is down: a note with the reason', async () => {
    const server = await serve()
    const lagging = await startNode(right)
    const limited = await serve({ faults: () => ({ kind: 'reply', status: 402, body: '{"error":"no credits"}' }) })
    for (const [url, reason] of [
      [lagging.url, 'the node does not have block 9.'],
      [`${limited.url}/query`, 'the node did not return block 9 (HTTP status 402 (no credits)).'],
      ['http://127.0.0.1:1', 'the node did not return block 9 (could not request http://127.0.0.1:1: no connection'],
    ] as const) {
      const { code, result, err } = await ask(server, ['--rpc', url])
      expect(code).toBe(0)
      expect(err).toContain(`The balances were not compared with the contract: ${reason}`)
      expect(result).toMatchObject({ unverified: true })
    }
  })
  it('a partial or unexplained history is not compared', async () => {
    const logs = [...history(2), transfer({ block: 3 }, { from: BOB, to: ADA, value: 5n })]
    const server = await serve({ logs: [...logs, transfer({ block: 4 }, { from: BOB, to: ADA, value: 50n })] })
    const { url, requests } = await start(server)
    expect((await ask(server, ['--rpc', url])).err).toContain('its events do not explain the balances')
    expect((await ask(server, ['--rpc', url, '--from-block', '3'])).err).toContain('they are partial')
    expect(requests).toEqual([])
  })
})
