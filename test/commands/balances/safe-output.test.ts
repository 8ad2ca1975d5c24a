import { access, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { cli, startCli } from '../../support/cli.ts'
import { it } from '../../support/directory.ts'
import { eventually } from '../../support/eventually.ts'
import { run } from '../../support/programs.ts'
import type { QueryServer } from '../../support/query-server.ts'
import { ADA, BOB, move, transfer, ZERO } from '../../support/token-logs.ts'
import { hurried, serve, startNode, words } from './fixtures.ts'

/** Interrupted as soon as it waits for a response that never arrives. */
const ended = async (argv: readonly string[], isWaiting: () => boolean) => {
  const running = startCli(argv)
  await eventually(isWaiting, (is) => is, { every: 5 })
  const { code, out, err } = await running.interrupt()
  return { code, text: out + err }
}

describe('the result is not lost', () => {
  it('if it is interrupted during --verify', async ({ directory }) => {
    const server = await serve({ pageBlocks: 20, height: 300 })
    const rpc = await startNode(() => 'hang')
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
  it('because an output that cannot be written is rejected before the first request', async ({ directory }) => {
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
  it('and a missing checkpoint is not mentioned', async ({ directory }) => {
    const server = await serve({ faults: () => ({ kind: 'hang' }) })
    const argv = words(server, 'erc20', '-o', join(directory, 'file'))
    const { text } = await ended(argv, () => server.seen.length > 0)
    expect(text).toContain('there is no checkpoint yet')
  })
  it('and a complete older file is not replaced by an incomplete one', async ({ directory }) => {
    const file = join(directory, 'holders.json')
    await writeFile(file, 'older')
    const server = await serve({
      pageBlocks: 2,
      height: 300,
      faults: ({ path, from }) => (path === '/query' && from >= 4 ? { kind: 'close' } : undefined),
    })
    const { code, err } = await hurried(words(server, 'erc20', '--format', 'json', '-o', file))
    expect(code).toBe(4)
    expect(err).toContain('is unchanged')
    expect(await readFile(file, 'utf8')).toBe('older')
    expect(await readFile(`${file}.partial`, 'utf8')).toContain('"complete":false')
  })
  it('and an output that could not be written leaves no part of it', async ({ directory }) => {
    const server = await serve({ height: 5, guard: false })
    const argv = words(server, 'erc20', '--format', 'json', '-o', join(directory, 'holders.json'))
    const { code, stderr } = await run('prlimit', ['--fsize=100', process.execPath, 'dist/main.js', ...argv])
    expect([code, stderr]).toEqual([1, expect.stringContaining('holders.json.partial')])
    expect(await readdir(directory)).toEqual([])
  })
  it('and the checkpoint does not block a run with the advised standard', async ({ directory }) => {
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
    const said = await csv(await serve({ logs: [], height: 300 }), 'erc1155', '--to-block', '5000')
    expect(said).toContain('No transfer event of erc1155 was found. Check the contract address and the standard.')
    expect(said).toContain('Through block 300, not 5000: the service has no later block yet.')
    expect(await csv(await serve(), 'erc20')).toMatch(/^Unverified: [^:]+ Through block 9\. $/)
  })
  it('report a sender that did not own the token', async () => {
    const logs = [move({ block: 1 }, { from: BOB, to: ADA, value: 7n })]
    expect(await csv(await serve({ logs }), 'erc721')).toContain(
      'Not conserving: by its events a sender did not own the token.',
    )
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
