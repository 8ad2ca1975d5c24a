import { describe, expect, test } from 'vitest'
import { decodeReadings } from '../../src/commands/shared/agent-snapshot.ts'
import { isNotified, notificationsOf } from '../../src/health/notifications.ts'
import type { CollectorState } from '../../src/health/snapshot.ts'

const NO_ONE = 'no one is notified by the agent: set `alertmanagers.urls`'
const NOW = Date.UTC(2026, 2, 1, 12)

const enabled = (name: string): CollectorState => ({
  name,
  help: '',
  enabled: true,
  up: true,
  lastSuccessAt: NOW,
  error: null,
  hasReading: true,
})

interface Given {
  readonly origin?: 'agent' | 'node'
  readonly alertmanagers?: Readonly<Record<string, unknown>> | null
  readonly heartbeat?: unknown
  readonly configured?: readonly string[]
}

const given = ({ origin = 'agent', alertmanagers, heartbeat, configured = [] }: Given) => ({
  at: NOW,
  origin,
  outbound: { alertmanagers: configured },
  collectors: [
    ...(alertmanagers === undefined ? [] : [enabled('alertmanagers')]),
    ...(heartbeat === undefined ? [] : [enabled('heartbeat')]),
  ],
  readings: decodeReadings({ alertmanagers: alertmanagers && { lastAlertAt: {}, ...alertmanagers }, heartbeat }),
})

const textOf = (options: Given): string => notificationsOf(given(options)).text

describe('the running agent', () => {
  test('without an Alertmanager: no one is notified, and where that is explained', () => {
    expect(notificationsOf(given({}))).toEqual({
      alertmanagers: [],
      heartbeat: null,
      text: NO_ONE,
      next: '`chain-agent alert --help`',
      tone: 'notice',
    })
  })

  test('a heartbeat alone notifies no one of a fault', () => {
    const heartbeat = { state: 'accepted', lastSuccessAt: new Date(NOW - 20_000).toISOString() }
    const heard = (reading: unknown) => {
      const { text, tone, heartbeat: found } = notificationsOf(given({ heartbeat: reading }))
      expect({ text, tone }).toEqual({ text: NO_ONE, tone: 'notice' })
      return found?.text
    }
    expect(heard(heartbeat)).toBe('accepted 20 s ago')
    expect(heard({ ...heartbeat, state: 'refused: HTTP status 404' })).toBe('not accepted: refused: HTTP status 404')
    expect(heard(null)).toBe('not sent yet')
  })

  test('each Alertmanager with its last alert', () => {
    const states = { '127.0.0.1:9093': 'accepted', 'b:9093': 'accepted' }
    const lastAlertAt = { '127.0.0.1:9093': NOW - 7_200_000 }
    const found = notificationsOf(given({ alertmanagers: { states, lastAlertAt } }))
    expect(found.text).toBe('127.0.0.1:9093 accepts alerts; last alert 2 h ago; b:9093 accepts alerts; no alert yet')
    expect(found.tone).toBeUndefined()
  })

  test('one that rejects, with the reason', () => {
    const states = { 'a:1': 'refused: HTTP status 401', 'b:2': 'accepted' }
    const found = notificationsOf(given({ alertmanagers: { states } }))
    expect(found.text).toBe(
      'a:1 does not accept alerts: refused: HTTP status 401; no alert yet; b:2 accepts alerts; no alert yet',
    )
    expect(found.alertmanagers.map(({ isAccepted }) => isAccepted)).toEqual([false, true])
    expect(found.tone).toBe('notice')
  })

  test('before the first reading', () => {
    expect(textOf({ alertmanagers: null, configured: ['a:1'] })).toBe('a:1 has not been sent alerts yet')
    // The command may read another configuration than the agent.
    expect(textOf({ alertmanagers: null })).toBe('Alertmanager has not been sent alerts yet')
  })
})

describe('without a running agent: the configuration', () => {
  const node = { origin: 'node', configured: ['a:1', 'b:2'] } as const

  test('names its receivers, which are sent nothing', () => {
    expect(textOf(node)).toBe('no one is notified until the agent runs: a:1, b:2 by the configuration')
  })

  test('has none', () => {
    expect(textOf({ origin: 'node' })).toBe(NO_ONE)
  })
})

test('an alert notifies only if one Alertmanager has accepted what was last sent', () => {
  const states = (...all: readonly string[]) => ({ states: Object.fromEntries(all.map((one, index) => [index, one])) })
  expect(isNotified(given({ alertmanagers: states('refused: HTTP status 500', 'accepted') }))).toBe(true)
  expect(isNotified(given({ alertmanagers: states('refused: HTTP status 500') }))).toBe(false)
  expect(isNotified(given({}))).toBe(false)
  expect(isNotified(given({ origin: 'node', configured: ['a:1'] }))).toBe(false)
})
