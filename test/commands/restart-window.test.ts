import { expect, test } from 'vitest'
import { cli } from '../support/cli.ts'
import { openHost } from '../support/host.ts'

test('the answer, every condition, and the exit code', async () => {
  const host = await openHost({ scenario: 'healthy', second: 90, agent: false, env: { COLUMNS: '60' } })
  const { code, out, err } = await host.run(['restart-window'])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const lines = out.split('\n')
  // 4.8 % of the stake and 2.7 rounds a second: 15 own rounds in two minutes are usual.
  expect(lines[0]).toMatch(/^RESTART: safe now, for 2 min; costs about (?:[5-9]|[12]\d) own rounds;(?: the)?$/)
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60)
  expect(out).toMatch(/^ {2}services {4}\+ consensus and execution run$/m)
  expect(out).toMatch(/^ {2}own rounds {2}(?:[5-9]|[12]\d) in this time, the first in/m)
  expect(out).not.toMatch(/[^\n -~]/)
})

test('as JSON: the state, the conditions and the cost', async () => {
  const host = await openHost({ scenario: 'healthy', second: 90, agent: false })
  const { code, out } = await host.run(['restart-window', '--for', '30s', '--json'])
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({
    verdict: { word: 'OK' },
    recovery: { path: 'none' },
    origin: 'node',
    forSeconds: 30,
    isSafe: true,
    exitCode: 0,
    checks: [
      { name: 'services', state: 'ok', summary: 'consensus and execution run', isRequired: true },
      { name: 'sync', state: 'ok' },
      { name: 'references', state: 'ok' },
      { name: 'network' },
      { name: 'findings' },
      { name: 'epoch', state: 'ok' },
      { name: 'blocksync' },
    ],
    ownRounds: {},
  })
})

test('during a fault: the lines of check, and no window', async () => {
  const host = await openHost({ scenario: 'service-crash', second: 60, agent: false })
  const { code, out } = await host.run(['restart-window'])
  expect(code).toBe(1)
  const [first, recovery, ...rest] = out.trimEnd().split('\n')
  expect(first).toBe('CRITICAL: bft is down (failed).')
  expect(recovery).toMatch(/^RECOVERY: /)
  expect(rest).toEqual([
    'RESTART: not evaluated during a fault: a planned restart has a window when no recovery is needed.',
  ])
  const [checked] = (await host.run(['check'])).out.split('\n')
  expect(first).toBe(checked)
  const { out: json } = await host.run(['restart-window', '--json'])
  expect(JSON.parse(json)).toMatchObject({
    verdict: { word: 'CRITICAL' },
    isSafe: null,
    checks: [],
    ownRounds: null,
    nextAt: null,
    exitCode: 1,
  })
})

test('five minutes away are more blocks than a node can catch up with; the longest safe time is printed', async () => {
  const host = await openHost({ scenario: 'healthy', second: 90, agent: false })
  const { code, out } = await host.run(['restart-window', '--for', '5m'])
  expect(code).toBe(1)
  // The setting of the simulated node was read: nothing is "by default".
  expect(out.replaceAll(/\s+/g, ' ')).toMatch(
    /^RESTART: not now: 5 min are 1,000 blocks at 3\.3 blocks a second, the most that consensus allows; the node can catch up with (?:800|79\d): the longest safe time is --for 23\ds\. /,
  )
})

test('a host without a node: the lines of check', async () => {
  const host = await openHost({ scenario: 'healthy', second: 90, agent: false, hasNode: false })
  const { code, out } = await host.run(['restart-window'])
  expect(code).toBe(1)
  expect(out).toMatch(/^UNKNOWN: there is no node on this host/)
  expect(out).toContain('\nRESTART: not evaluated during a fault: ')
})

test.each(['5', '0s', '7h', 'soon'])('--for %s is a usage error', async (span) => {
  const { code, err } = await cli(['restart-window', '--for', span])
  expect(code).toBe(2)
  expect(err).toContain('expected a duration from 1s to 6h, such as 2m')
})
