import { describe, expect, it } from 'vitest'
import { cli } from '../../support/cli.ts'
import { jumpingClock } from '../../support/jumping-clock.ts'
import { startQueryServer } from '../../support/query-server.ts'
import { TOKEN } from '../../support/token-logs.ts'
import { serve } from '../balances/fixtures.ts'

describe('a service that is down', () => {
  it('on this host: fails at the first attempt with advice', async () => {
    const { url, close } = await startQueryServer()
    await close()
    for (const words of [['query'], ['balances', '--standard', 'erc20', '--token', TOKEN]]) {
      const clock = jumpingClock()
      const { code, out, err } = await cli([...words, '--url', url], { clock })
      expect({ code, out, waits: clock.waits }).toEqual({ code: 1, out: '', waits: [] })
      expect(err).toContain(`at ${url}: no connection (connection refused)\n`)
      expect(err).toContain('what to do: check that the service is running')
    }
  })
  it('is reported at the first failure, with the wait and the attempts', async () => {
    const server = await serve({ faults: () => ({ kind: 'reply', status: 502 }) })
    const clock = jumpingClock()
    const { code, err } = await cli(['query', '--height', '--url', server.url, '--retries', '2'], { clock })
    expect(code).toBe(1)
    // Both waits are shorter than the minimum interval of reports, one second.
    expect(err).toMatch(
      /^Query service http:\S+: it answered 502; retrying in 0\.[12] s \(attempt 2 of 3\)\nCould not ask/,
    )
    expect(clock.waits).toHaveLength(2)
    expect(server.seen).toHaveLength(3)
  })
  it('is reported at most once a second', async () => {
    const server = await serve({ faults: () => ({ kind: 'reply', status: 502 }) })
    const clock = jumpingClock()
    const { err } = await cli(['query', '--height', '--url', server.url], { clock })
    const reports = err.split('\n').filter((line) => line.includes('; retrying in '))
    // A report needs at least one second since the one before.
    let [at, reportedAt, expected] = [0, -Infinity, 0]
    for (const wait of clock.waits) {
      if (at - reportedAt >= 1000) [reportedAt, expected] = [at, expected + 1]
      at += wait
    }
    expect(reports).toHaveLength(expected)
    expect(reports.length).toBeGreaterThan(1)
  })
  it('--timeout limits each request', async () => {
    const server = await serve({ faults: () => ({ kind: 'hang' }) })
    const argv = ['query', '--height', '--url', server.url, '--timeout', '20ms', '--retries', '1']
    const { code, err } = await cli(argv)
    expect(code).toBe(1)
    expect(err).toMatch(/no answer in time; retrying in \S+ s \(attempt 2 of 2\)/)
  })
  it('a height of 100 kB is an error of the service, exit code 5', async () => {
    const body = `{"height":1,"more":"${'x'.repeat(100_000)}"}`
    const server = await serve({ faults: () => ({ kind: 'reply', status: 200, body }) })
    const { code, out, err } = await cli(['query', '--url', server.url], { clock: jumpingClock() })
    expect({ code, out }).toEqual({ code: 5, out: '' })
    expect(err).toContain('the response is too large for a height\n')
  })
})
