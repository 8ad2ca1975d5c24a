import { expect, test } from 'vitest'
import { z } from 'zod'
import { outcome } from '../../src/commands/duties/action.ts'
import { cli } from '../support/cli.ts'
import { openHost } from '../support/host.ts'
import { OTHER, OWN, proposed, timeout } from './ledger/stream.ts'

const block = (round: number, author: string, parent = round - 1): string =>
  proposed(round, { author, parent, delay: 0 })
const STREAM = [
  block(100, OTHER),
  block(101, OWN),
  timeout(102, OTHER),
  timeout(103, OWN),
  block(104, OTHER, 101),
  block(110, OTHER),
].join('\n')

const duties = async (argv: readonly string[], stdin = STREAM) =>
  cli(['duties', '--file', '-', '--set', `node.publicKey=${OWN}`, '--since', '2026-03-01T12:00', ...argv], { stdin })

test('a recording as text', async () => {
  const { code, out, err } = await duties([])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const lines = out.split('\n')
  expect(lines[0]).toBe('1 of at least 2 own rounds led, 1 missed, those in gaps of the stream: unknown')
  // From round 100 to 110, without the 6 s between rounds 104 and 110.
  expect(lines[1]).toMatch(
    /^Covered: 4 s of .*, 2026-03-01T12:01:40Z to 2026-03-01T12:01:50Z; without 1 gap of 6 s in all, with 5 rounds$/,
  )
  expect(out).toContain('\n  epoch 7  2 own rounds: 1 led, 1 missed; 6 rounds in all\n')
  expect(out).toContain(
    '\n  2026-03-01T12:01:44Z  epoch 7, round 103: timed out; class unknown: not recorded; leader before 03bb..bbbb; 1 of the 50 rounds before without a block; recorded then: unknown\n',
  )
  expect(out).toContain('\nGaps of the stream:\n  2026-03-01T12:01:44Z  6 s; recorded then: unknown\n')
  expect(out).toContain('What else happened is unknown: a recording does not contain them.')
})

test('own rounds in gaps are neither led nor missed', () => {
  const known = { led: 28, missed: 0, expected: 28 }
  expect(outcome({ ...known, unseen: 0 })).toBe('28 of 28 own rounds led, 0 missed')
  expect(outcome({ ...known, unseen: 3 })).toBe('28 of 31 own rounds led, 0 missed, 3 in gaps of the stream: unknown')
  expect(outcome({ led: 28, missed: 1, expected: null, unseen: 3 })).toBe(
    '28 of an unknown number of own rounds led, at least 1 missed, 3 in gaps of the stream: unknown',
  )
})

test('as JSON', async () => {
  const { out } = await duties(['--json'])
  expect(JSON.parse(out)).toMatchObject({
    fromAt: '2026-03-01T12:00:00.000Z',
    key: OWN,
    covered: { fromAt: '2026-03-01T12:01:40.000Z', toAt: '2026-03-01T12:01:50.000Z' },
    gaps: [{ fromAt: '2026-03-01T12:01:44.000Z', toAt: '2026-03-01T12:01:50.000Z' }],
    epochs: [{ epoch: '7', rounds: 6, led: 1, missed: 1, expected: 2, unseen: 5, unseenOwn: null }],
    missed: [{ at: '2026-03-01T12:01:44.000Z', epoch: '7', round: '103', how: 'timeout', previousLeader: OTHER }],
    omitted: 0,
    rewards: null,
    unknownBecause: { rewards: 'a recording does not contain them', recorded: 'a recording does not contain them' },
  })
})

test('an empty stream is exit code 1, with what to do', async () => {
  const { code, out } = await duties([], '')
  expect(code).toBe(1)
  expect(out).toContain('the ledger stream in the journal has no blocks')
  expect(out).toContain('start the service ledger-tail')
})

test('the journal of a host: recorded events, rewards and the leader schedule of the node', async () => {
  const host = await openHost({ scenario: 'healthy', second: 300 })
  const { code, out, err } = await host.run(['duties', '--since', '4m', '--json'])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const { epochs, covered, unknownBecause } = z
    .object({
      epochs: z
        .array(z.object({ rounds: z.number(), expected: z.number().nullable(), schedule: z.string() }))
        .length(1),
      covered: z.object({ fromAt: z.iso.datetime(), toAt: z.iso.datetime() }),
      unknownBecause: z.record(z.string(), z.string().nullable()),
    })
    .parse(JSON.parse(out))
  expect(epochs).toMatchObject([{ schedule: 'proved' }])
  expect(epochs[0]?.expected).toBeGreaterThan(0)
  expect(Date.parse(covered.toAt) - Date.parse(covered.fromAt)).toBeGreaterThan(230_000)
  expect(unknownBecause).toEqual({ rewards: null, schedule: null, recorded: null })
})

test('while consensus is down, rounds since the last line of the stream are unknown', async () => {
  // It crashes at 30 s.
  const host = await openHost({ scenario: 'service-crash', second: 80 })
  const { out } = await host.run(['duties'])
  expect(out.split('\n')[0]).toMatch(
    /^\d+ of \d+ own rounds led, \d+ missed until 2026-03-01T12:57:\d\dZ; since then unknown, for 5\d s$/,
  )
  const { out: json } = await host.run(['duties', '--json'])
  const { covered, unknownSinceAt } = z
    .object({ covered: z.object({ toAt: z.string() }), unknownSinceAt: z.string() })
    .parse(JSON.parse(json))
  expect(unknownSinceAt).toBe(covered.toAt)
  // A healthy node has no such time.
  const healthy = await openHost({ scenario: 'healthy', second: 80 })
  expect(JSON.parse((await healthy.run(['duties', '--json'])).out)).toMatchObject({ unknownSinceAt: null })
  const report = await host.run(['report', '--since', '1h'])
  expect(report.out.replaceAll(/\s+/g, ' ')).toMatch(/own rounds .* since then unknown, for (?:5\d s|1 min)/)
})

test('in statesync: blocks of an instant are no outcome', async () => {
  const host = await openHost({ scenario: 'statesync', second: 90 })
  const { out } = await host.run(['duties'])
  expect(out.split('\n')[0]).toMatch(/^Own rounds unknown: the ledger stream has blocks of less than 1 s, \d+ \w+ ago$/)
})
