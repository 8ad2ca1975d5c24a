import { describe, expect, test } from 'vitest'
import { ENOUGH_OWN_ROUNDS, LIMITS, MANY_PEERS, NETWORK_TIMEOUT_SHARE } from '../../src/health/limits.ts'
import { alerts } from '../alerts/files.ts'

/** The numbers that a rule compares with. */
const numbersOf = (alert: string, severity: string): readonly number[] =>
  alerts
    .filter((rule) => rule.alert === alert && rule.labels?.['severity'] === severity)
    .flatMap(({ expr }) => [...expr.matchAll(/(?:<|>|<=|>=)\s*([\d.]+)/g)].map(([, n]) => Number(n)))

const ROWS = Object.entries(LIMITS).flatMap(([name, { alert, ...limits }]) =>
  Object.entries(limits).map(([severity, value]) => ({ name, alert, severity, value })),
)

describe('findings and alert rules have the same limits', () => {
  test.each(ROWS)('$name: $alert, $severity at $value', ({ alert, severity, value }) => {
    expect(numbersOf(alert, severity)).toContain(value)
  })
  test('MANY_PEERS', () => {
    expect(numbersOf('ChainIsolated', 'critical')).toContain(MANY_PEERS)
  })
  test('the limits of timeouts', () => {
    const numbers = numbersOf('ChainLeaderTimeouts', 'warning')
    expect(numbers).toContain(ENOUGH_OWN_ROUNDS)
    expect(numbers).toContain(NETWORK_TIMEOUT_SHARE)
  })
})
