import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { COLLECTORS } from '../../src/collectors/index.ts'
import { createChain } from '../../simulator/chain.ts'
import type { World } from '../support/cli.ts'
import { type Host, openHost, sharedHost } from '../support/host.ts'
import { testUsageErrors } from '../support/usage-errors.ts'

/** Without `watched`, `heartbeat` and `alertmanagers`, for which the demo configures nothing. */
const COUNT = Object.keys(COLLECTORS).length - 3

const documentSchema = z.object({
  verdict: z.object({ word: z.string(), sentence: z.string() }),
  from: z.string(),
  sections: z.record(z.string(), z.record(z.string(), z.unknown())),
})

const read = (text: string) => documentSchema.parse(JSON.parse(text))

testUsageErrors(
  ['status', '--prefix', 'chain'],
  [
    [['storge'], 'Did you mean storage?'],
    [['chain-btf'], 'Did you mean chain-bft?'],
    [['zzzzzzzz'], 'Sections: header, config, services'],
    [['--watch', 'storage'], 'expected a number of seconds from 1 to 86400'],
  ],
)

/** One section as text, and in JSON. */
const see = async (host: Host, ...words: readonly string[]): Promise<string> => {
  const { code, out, err } = await host.run(['status', ...words])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return out
}

describe('a healthy node, with an agent', async () => {
  const host = await sharedHost({ scenario: 'healthy', second: 90 })
  const at = async (env: Readonly<Record<string, string>>, ...words: readonly string[]) =>
    (await host.run(['status', ...words], { env })).out

  test('verdict, origin, and an overview of one screen', async () => {
    const lines = (await at({ COLUMNS: '80', LANG: 'C.UTF-8' })).trimEnd().split('\n')
    expect(lines[0]).toBe('OK: the node keeps up with the chain.')
    expect(lines[1]).toMatch(new RegExp(`^From the agent at 127.0.0.1:${host.port}, (\\d+ s|\\d+ s to \\d+ s) old$`))
    expect(lines.length).toBeLessThanOrEqual(24)
    expect(lines).toContain(`  agent        ${COUNT} of ${COUNT} collectors ok`)
  })

  test('heights are those of the chain', async () => {
    const chain = createChain(1)
    const before = chain.headAt(host.now() - 5000).seqNum
    const out = await see(host, 'chain')
    const [, height = ''] = /^ {2}own height +([\d,]+)$/m.exec(out) ?? []
    expect(BigInt(height.replaceAll(',', ''))).toBeGreaterThanOrEqual(before)
    expect(BigInt(height.replaceAll(',', ''))).toBeLessThanOrEqual(chain.headAt(host.now()).seqNum)
    expect(out).toMatch(/^ {2}block difference +[01] blocks? (behind|ahead)$/m)
    expect(out).toMatch(/^ {2}references agreeing +2 of 2$/m)
  })

  test('all of it as JSON: the fields of the report under their names', async () => {
    const { verdict, from, sections } = read(await see(host, '--json'))
    expect(verdict).toEqual({ word: 'OK', sentence: 'the node keeps up with the chain.' })
    expect(from).toBe('agent')
    expect(Object.keys(sections)).toEqual(
      'header config services chain consensus statesync peers rpc execution storage staking duties versions host keys maintenance restart watched alerts agent'.split(
        ' ',
      ),
    )
    const text: unknown = expect.stringMatching(/./)
    const digits: unknown = expect.stringMatching(/^\d+$/)
    const number: unknown = expect.any(Number)
    const hex = (length: number): unknown => expect.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`))
    const address: unknown = expect.stringMatching(/:8000$/)

    expect(sections).toMatchObject({
      header: { hostname: 'simulated', date: text, uptimeSeconds: number, version: '0.16.1' },
      config: {
        network: 'simulated',
        chain: 'chain_simulated',
        chainId: '31143',
        secpPublicKey: hex(66),
        blsPublicKey: hex(96),
        selfAddress: address,
        recordSeqNum: '3',
      },
      services: {
        'chain-bft': { state: 'running', active: true, expected: true, mainPid: number },
        'chain-execution': { state: 'running' },
        'chain-rpc': { state: 'running' },
        otelcol: { state: 'running' },
        reported: { bft: 'running', execution: 'running', rpc: 'running', otelcol: 'running' },
        cleanup: { activated: true, previousSeconds: number, nextSeconds: number },
      },
      peers: { peersNumber: digits },
      consensus: {
        status: 'in-sync',
        mode: 'live',
        epoch: digits,
        round: digits,
        blockNumber: digits,
        blockNumberFromExternal: digits,
        blockDifference: '0',
        log: { committing: true },
      },
      // As the report of a node that has not needed statesync has it.
      statesync: { percentage: 0, progress: '0', target: '0', active: false },
      rpc: { status: 'active', clientVersion: 'Chain/0.16.1', netVersion: '31143', blockNumber: digits },
    })
  })

  test('storage with the figures of the tool', async () => {
    const out = await see(host, 'storage')
    expect(out).toMatch(/^ {2}\/dev\/nvme3n1p2 +21.53% used, 399.68 GiB of 1.81 TiB$/m)
    expect(out).toMatch(/^ {2}fast list +1,387 chunks, capacity 346.75 GiB, used 346.70 GiB$/m)
    expect(out).toMatch(/^ {2}latest proposed +[\d,]+, id [0-9a-f]{64}$/m)
    expect(out).toMatch(/^ {2}latest voted +[\d,]+, id [0-9a-f]{64}$/m)
  })

  test('a name of a section and a service shows both; a unit, the service alone', async () => {
    const both = read(await see(host, 'rpc', '--json'))
    expect(Object.keys(both.sections)).toEqual(['rpc', 'chain-rpc'])
    const one = read(await see(host, 'chain-rpc', '--json'))
    expect(Object.keys(one.sections)).toEqual(['chain-rpc'])
    expect(one.sections['chain-rpc']).toMatchObject({
      unit: 'chain-rpc.service',
      state: 'running',
      enabled: 'enabled',
      expected: true,
      restarts: '0',
      lastExit: null,
    })
  })

  test('JSON is never coloured', async () => {
    expect(await at({ LANG: 'C', FORCE_COLOR: '1' }, '--json')).not.toContain('\u001b')
  })

  /** Runs until it has written so much, then Ctrl-C. */
  const watched = async (words: readonly string[], until: RegExp, terminal?: World['terminal']) => {
    const { code, out } = await host.run(['status', ...words], {
      env: { LANG: 'C.UTF-8', TERM: 'xterm' },
      until: (text) => until.test(text),
      ...(terminal && { terminal }),
    })
    return { code, text: out }
  }

  test('--watch in a pipe: a page each time, and an end in good order', async () => {
    const { code, text } = await watched(['--watch', '1'], /OK: [^]*OK: /)
    expect(code).toBe(0)
    expect(text.split('OK: the node keeps up with the chain.\n').length).toBeGreaterThanOrEqual(3)
  })

  test('--watch as JSON: a document a line', async () => {
    const { code, text } = await watched(['storage', '--watch', '1', '--json'], /\n.*\n/)
    expect(code).toBe(0)
    const words = text
      .trimEnd()
      .split('\n')
      .map((line) => read(line).verdict.word)
    expect(words.length).toBeGreaterThanOrEqual(2)
    expect(new Set(words)).toEqual(new Set(['OK']))
  })

  test('--watch on a terminal: in its place, no more than fits, and the cursor comes back', async () => {
    const terminal = { isTTY: true as const, columns: 80, rows: 10 }
    const { code, text } = await watched(['--watch', '1'], /\[H[^]*\[H/, terminal)
    expect(code).toBe(0)
    expect(text.startsWith('\u001b[?25l\u001b[H')).toBe(true)
    expect(text.endsWith('\u001b[J\u001b[?25h')).toBe(true)
    const pages = text.split('\u001b[H').slice(1)
    for (const page of pages) expect(page.split('\n').length - 1).toBe(9)
    expect(pages[0]).toMatch(/\(\d+ more lines\)/)
  })
})

describe('scenarios of the node', () => {
  test('statesync: how far it is, and nothing of a port that refuses', async () => {
    const host = await openHost({ scenario: 'statesync', second: 90 })
    const { sections } = read(await see(host, '--json'))
    expect(sections['statesync']).toMatchObject({ active: true })
    // Half of the three minutes; the share is rounded down.
    const { percentage } = z.object({ percentage: z.number() }).parse(sections['statesync'])
    expect(percentage).toBeGreaterThan(49)
    expect(percentage).toBeLessThan(65)
    expect(sections['consensus']).toMatchObject({ status: 'out-of-sync', mode: 'syncing' })
    // The difference of the state, as in `recover`: 40,000 blocks, and those of 90 s.
    const { blockNumber, blockDifference } = z
      .object({ blockNumber: z.null(), blockDifference: z.number() })
      .parse(sections['chain'])
    expect(blockNumber).toBeNull()
    expect(Math.round(blockDifference / 1000)).toBe(40)
    const rpc = await see(host, 'rpc')
    expect(rpc).toMatch(/^ {2}answers +x no: refused$/m)
    expect(rpc).toMatch(/^ {2}latest block +unknown \(it does not answer\)$/m)
    expect(rpc).toMatch(/^ {2}block number +unknown$/m)
  })

  test('a service that crashed: since when, and by what', async () => {
    const host = await openHost({ scenario: 'service-crash', second: 60 })
    const overview = await see(host)
    expect(overview).toMatch(/^ {2}services +x bft failed \(killed by SIGABRT\); running: execution, /m)
    const service = await see(host, 'bft')
    expect(service).toMatch(/^ {2}state +x failed$/m)
    expect(service).toMatch(/^ {2}ended +\S+Z \([345]\d s ago\)$/m)
    expect(service).toMatch(/^ {2}last exit +killed by SIGABRT$/m)
    expect(service).toMatch(/^ {2}result +x core-dump$/m)
  })

  test('a tool that aborts: unknown is said, with the reason, and nothing is 0', async () => {
    const host = await openHost({ scenario: 'tool-aborts', second: 60 })
    expect(await see(host)).toMatch(/^ {2}storage +[\d.]+% used$/m)
    const storage = await see(host, 'storage')
    const [, facts = '', reason = ''] =
      /from the storage tool:\n([^]*?)\n {2}from its growth rate[^]*\n {2}(storage: .*)\n$/.exec(storage) ?? []
    expect(facts.split('\n').length).toBeGreaterThan(10)
    for (const line of facts.split('\n')) expect(line).toMatch(/ unknown$/)
    expect(reason).toMatch(/^storage: Could not read the storage report: .*; what to do: /)
    const { sections } = read(await see(host, 'storage', '--json'))
    expect(sections['storage']).toMatchObject({
      devices: null,
      lists: { fast: null, slow: null, free: null },
      latestBlock: { finalized: null },
      unknownBecause: [reason],
    })
  })
})

test('without an agent the node itself is read, and the output says so', async () => {
  const host = await openHost({ scenario: 'healthy', second: 90, agent: false })
  const out = await see(host)
  expect(out.split('\n')[1]).toBe(`Read from the node: no agent answers at 127.0.0.1:${host.port}`)
  expect(out).toMatch(
    new RegExp(`^ {2}agent +! not running; read from the node, ${COUNT} of ${COUNT} collectors ok$`, 'm'),
  )
})
