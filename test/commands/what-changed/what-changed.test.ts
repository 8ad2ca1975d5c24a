import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseChanges } from '../../../src/parsers/changes.ts'
import { type Host, startHost } from '../../support/host.ts'

/** A multiple of the interval of the samples. */
const FAULT_S = 90

let host: Host
beforeAll(async () => {
  host = await startHost({ scenario: `${FAULT_S}s rpc exits 1`, second: 0, env: { LANG: 'C.UTF-8' } })
  for (let second = 0; second < FAULT_S + 45; second += 1) await host.second()
})
afterAll(async () => host.close())

it('prints what changed, most first, and exits with 0', async () => {
  const { code, out, err } = await host.run(['what-changed', '--for', '45s', '-n', '2'])
  expect([code, err]).toEqual([0, ''])
  expect(out).toMatch(
    /^\d+ changes in the 45 s up to 2026-03-01T13:00:1\dZ, against the 1 min before:\n\n1\. .*\n2\. .*\n\d+ further changes with a larger --lines\.\n$/,
  )
  expect(out).toContain('chain_service_active{service="rpc"}: 1 → 0, since 12:59:45 UTC')
})

it('prints JSON of the API', async () => {
  const { code, out } = await host.run(['what-changed', '--for', '45s', '--json'])
  const { fromAt, toAt, changes } = parseChanges(out)
  expect([code, Date.parse(toAt) - Date.parse(fromAt)]).toEqual([0, 45_000])
  expect(changes.map(({ score }) => score)).toEqual(changes.map(({ score }) => score).toSorted((a, b) => b - a))
})

it('compares an earlier window, before the fault', async () => {
  const { code, out } = await host.run(['what-changed', '--at', '2026-03-01T12:59:30', '--for', '30s'])
  expect([code, out]).toEqual([0, expect.not.stringContaining('service="rpc"')])
  expect(out).toContain(' in the 30 s up to 2026-03-01T12:59:30Z, against the 59 s before')
  // What is equal as printed is no change.
  expect(out).not.toMatch(/: (?:rate |mean |age )?(\S+) → \1,/)
})

it('exits with 1 without a sample before the window, and names the oldest', async () => {
  const { code, out } = await host.run(['what-changed'])
  expect(code).toBe(1)
  expect(out).toMatch(
    /^Nothing to compare: the oldest sample of the agent is of 2026-03-01T12:58:\d\dZ, and the window begins at 2026-03-01T12:50:\d\dZ\. What to do: use a shorter --for/,
  )
})

it('exits with 1 for a window in the future', async () => {
  const { code, out } = await host.run(['what-changed', '--at', '2026-03-01T14:00', '--for', '1m'])
  expect([code, out]).toEqual([
    1,
    'Nothing to compare: the agent has no sample of the window from 2026-03-01T13:59:00Z to 2026-03-01T14:00:00Z. What to do: use an earlier --at.\n',
  ])
})

it('exits with 1 if no agent runs', async () => {
  const { code, err } = await host.run(['what-changed', '--listen', '127.0.0.1:1'])
  expect(code).toBe(1)
  expect(err).toContain('no agent runs on this host, and only a running agent has the samples')
})

it.each([
  ['at=soon', 'at: expected a time such as 2026-03-01T12:00:00Z, or seconds since the epoch'],
  ['at=99999999999999', 'at: expected a time such as 2026-03-01T12:00:00Z, or seconds since the epoch'],
  ['for=2h', 'for: expected a duration from 30s to 1h, such as 10m'],
  ['for=1s', 'for: expected a duration from 30s to 1h, such as 10m'],
])('the API rejects %s', async (query, text) => {
  const response = await fetch(`http://127.0.0.1:${host.port}/api/v1/changes?${query}`)
  expect([response.status, await response.text()]).toEqual([400, `${text}\n`])
})
