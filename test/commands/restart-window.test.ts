import { expect, test } from 'vitest'
import { openHost } from '../support/host.ts'
import { testUsageErrors } from '../support/usage-errors.ts'

test('the answer, every condition, and the exit code', async () => {
  const host = await openHost({ scenario: 'healthy', second: 90, agent: false, env: { COLUMNS: '60' } })
  const { code, out, err } = await host.run(['restart-window'])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  // 4.8 % of the stake and 2.7 rounds a second: 15 own rounds in two minutes are usual.
  expect(out).toMatch(/^RESTART: safe now, for 2 min; costs about (?:[5-9]|[12]\d) own rounds;(?: the)?$/m)
  expect(out).toMatch(/^ {2}services {4}\+ consensus and execution run$/m)
  expect(out).toMatch(/^ {2}own rounds {2}(?:[5-9]|[12]\d) in this time, the first in/m)
  const document: unknown = JSON.parse((await host.run(['restart-window', '--json'])).out)
  expect(document).toMatchObject({ origin: 'node', forSeconds: 120, isSafe: true, exitCode: 0, ownRounds: {} })
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

testUsageErrors(['restart-window'], [[['--for', '7h'], 'expected a duration from 1s to 6h, such as 2m']])
