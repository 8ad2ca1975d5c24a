import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { cli } from '../support/cli.ts'
import { sharedHost } from '../support/host.ts'
import { testUsageErrors } from '../support/usage-errors.ts'
import { finalized, NOON, OWN, proposed, timeout } from './ledger/stream.ts'

const STREAM = [
  'a warning of the program',
  proposed(101, { seq: 51 }),
  timeout(102, OWN),
  proposed(105, { seq: 52, author: OWN, parent: 101 }),
  finalized(101, { seq: 51, delay: 4085 }),
  '{"level":"INFO","target":"ledger_tail","fields":{"message":"news"}}',
  proposed(107, { seq: 60 }),
].join('\n')

const read = async (argv: readonly string[], env: Record<string, string> = {}, stdin = STREAM) =>
  cli(['ledger', '--file', '-', '--set', `node.publicKey=${OWN}`, ...argv], { env, stdin })

describe('a file', () => {
  test('is a line per block, with what gave none', async () => {
    const { code, out, err } = await read([])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out.split('\n')).toEqual([
      '  seen (UTC)                event            round       block   txs author           after    author address',
      '  2026-03-01T12:01:41.085Z  proposed           101          51    12 03bb..bbbb       85 ms    192.0.2.7:8000',
      'x 2026-03-01T12:01:43.000Z  round 102 timed out: 02aa..aaaa own, own turn',
      '! 2026-03-01T12:01:45.085Z  rounds 103-104 skipped',
      '* 2026-03-01T12:01:45.085Z  proposed           105          52    12 02aa..aaaa own   85 ms',
      '! 2026-03-01T12:01:47.085Z  round 106 not in the log',
      '  2026-03-01T12:01:47.085Z  proposed           107          60    12 03bb..bbbb       85 ms    192.0.2.7:8000',
      '3 blocks (51 to 60) with 36 transactions in rounds 101 to 107; 3 rounds skipped; 1 own block, 1 own timeout; 1 finalized.',
      '1 round not in the log: it has gaps.',
      '1 line could not be parsed.',
      '',
    ])
  })

  test('of the journal says the same as the bare stream', async () => {
    const entries = STREAM.split('\n').map((message, at) =>
      JSON.stringify({ __CURSOR: `c${at}`, __REALTIME_TIMESTAMP: `${NOON}000`, _PID: '77', MESSAGE: message }),
    )
    const ofJournal = await read([], {}, `${entries.join('\n')}\n`)
    expect(ofJournal.out).toBe((await read([])).out)
  })

  test('--since, --until, -n and --finalized choose', async () => {
    const rounds = (out: string) => [...out.matchAll(/(?:proposed|finalized) +(\d+)/g)].map(([, round]) => round)
    expect(rounds((await read(['--since', '2026-03-01T12:01:45'])).out)).toEqual(['105', '107'])
    expect(rounds((await read(['--until', '2026-03-01T12:01:45'])).out)).toEqual(['101'])
    expect(rounds((await read(['-n', '1'])).out)).toEqual(['107'])
    expect(rounds((await read(['--finalized'])).out)).toEqual(['101', '105', '101', '107'])
  })

  test('of lines as journalctl prints them says the same as the bare stream', async () => {
    const head = 'Mar 01 12:01:45 host-b chain-ledger-tail[811]: '
    const printed = STREAM.split('\n').map((text) => `${head}${text}`)
    expect(await read([], {}, printed.join('\n'))).toEqual(await read([]))
  })

  test('of lines that are not understood, or are too old, is no fault of a service', async () => {
    const other = await read([], {}, 'Mar 01 12:01:45 host-b chain-node[7]: x\nfoo\n')
    expect(other.code).toBe(1)
    expect(other.err).toContain(
      'No blocks in standard input: 2 lines were read, and none is about a block in the time range.',
    )
    expect(other.err).not.toContain('running')
    expect((await read([], {}, '')).err).toContain('0 lines were read')
  })

  test('--json is one document', async () => {
    const { out } = await read(['--json'])
    const { events, summary } = z
      .object({ events: z.array(z.looseObject({})), summary: z.looseObject({}) })
      .parse(JSON.parse(out))
    const kinds = ['proposed', 'timeout', 'skipped', 'proposed', 'unseen', 'proposed']
    expect(events.map(({ event }) => event)).toEqual(kinds)
    expect(events[3]).toEqual({
      event: 'proposed',
      round: '105',
      parentRound: '101',
      epoch: '7',
      seqNum: '52',
      author: OWN,
      authorAddress: null,
      timestamp: 'x',
      level: 'INFO',
      transactions: '12',
      name: null,
      own: true,
      seenAt: '2026-03-01T12:01:45.085Z',
      blockAt: '2026-03-01T12:01:45.000Z',
      seenAfterMs: 85,
    })
    expect(summary).toMatchObject({ blocks: 3, skipped: '3', unseen: '1', unparsed: 1 })
    const none = await read(['--json'], {}, '')
    expect(none.code).toBe(1)
    expect(none.out).toMatch(/^\{"events":\[\n\],"summary":\{"firstRound":null,.*"blocks":0,/)
    expect(JSON.parse(none.out)).toHaveProperty('events', [])
  })

  test('has short lines in 60 columns', async () => {
    const { out } = await read([], { COLUMNS: '60', LANG: 'C' })
    expect(out).toContain('* 12:01:45.085          105          52    12 own      85ms\n')
  })

  test('that is missing', async () => {
    const missing = await cli(['ledger', '--file', '/nowhere/at/all'])
    expect(missing).toMatchObject({ code: 1, out: '' })
    expect(missing.err).toContain('Could not read the recording /nowhere/at/all')
  })
})

testUsageErrors(['ledger'], [[['--file', '-', '-f'], 'cannot be used with option']])

describe('a node', async () => {
  const host = await sharedHost({ scenario: 'healthy', second: 60, agent: false })

  test('has its last blocks shown: as many as are asked for, in a row', async () => {
    const { code, out } = await host.run(['ledger', '-n', '12', '--json'])
    const { events } = z
      .object({ events: z.array(z.object({ event: z.string(), seqNum: z.coerce.bigint().nullish() })) })
      .parse(JSON.parse(out))
    const blocks = events.flatMap(({ event, seqNum }) =>
      event === 'proposed' && seqNum !== null && seqNum !== undefined ? [seqNum] : [],
    )
    expect({ code, count: blocks.length }).toEqual({ code: 0, count: 12 })
    expect((blocks.at(-1) ?? 0n) - (blocks[0] ?? 0n)).toBe(11n)
  })

  test('is followed, each block once, until Ctrl-C', async () => {
    const blocksIn = (text: string): readonly number[] =>
      text.split('\n').flatMap((one) => (one.includes('"proposed"') ? [Number(/"seqNum":"(\d+)"/.exec(one)?.[1])] : []))
    const until = (text: string): boolean => blocksIn(text).length > 20
    const { code, out } = await host.run(['ledger', '-f', '--json', '-n', '5'], { until })
    const blocks = blocksIn(out)
    expect({ code, blocks }).toEqual({ code: 0, blocks: blocks.map((_, at) => (blocks[0] ?? Number.NaN) + at) })
  })

  test('has names for its keys', async () => {
    const { out } = await host.run(['ledger', '--json', '-n', '1'])
    const [, author = ''] = /"author":"(\w+)"/.exec(out) ?? []
    const names = join(host.directory, 'names.yaml')
    await writeFile(names, `"${author}": Alpha Validatoren\n`)
    const named = await host.run(['ledger', '--since', '50s', '--names', '--set', `names.file=${names}`])
    expect(named.out).toContain(' Alpha Validatore ')
    expect(named.out).not.toContain(` ${author.slice(0, 4)}..`)
  })
})
