import { expect, test } from 'vitest'
import { recordedAround } from '../../../src/commands/duties/action.ts'
import type { Event } from '../../../src/domain/event.ts'

const NOON = Date.UTC(2026, 2, 1, 12)
const MINUTE = 60_000
const FIRING = 'critical: consensus is down'

const recorded = (rows: readonly (readonly [minutes: number, collector: string, subject: string, to: string])[]) => {
  const events = rows.map(([minutes, collector, subject, to], id): Event => ({
    id,
    at: NOON + minutes * MINUTE,
    collector,
    subject: subject || null,
    from: collector === 'agent' ? null : 'before',
    to,
    severity: 'info',
  }))
  return recordedAround({ events, oldestAt: events[0]?.at ?? null })(NOON)
}

test('alerts that fire up to five minutes later, or ended in the minute before', () => {
  expect(
    recorded([
      [-60, 'alerts', 'ChainOld', FIRING],
      [-59, 'alerts', 'ChainStill bft', FIRING],
      [-2, 'alerts', 'ChainOld', 'not firing'],
      [-30, 'alerts', 'ChainRecent', FIRING],
      [-1, 'alerts', 'ChainRecent', 'not firing'],
      [5, 'alerts', 'ChainLater', 'warning: slow'],
      [6, 'alerts', 'ChainTooLate', FIRING],
    ]),
  ).toEqual(['ChainStill bft', 'ChainRecent', 'ChainLater'])
})

test('changes of services and maintenance within a minute', () => {
  expect(
    recorded([
      [-2, 'services', 'rpc', 'failed'],
      [-1, 'services', 'bft', 'failed'],
      [0, 'version', 'installed version', '0.16.1'],
      [1, 'maintenance', 'maintenance', 'upgrade'],
    ]),
  ).toEqual(['bft: before → failed', 'maintenance: before → upgrade'])
})

test('an alert that was not listed again after a restart of the agent no longer fires', () => {
  expect(
    recorded([
      [-60, 'alerts', 'ChainGone', FIRING],
      [-60, 'alerts', 'ChainStill', FIRING],
      [-30, 'agent', '', 'started, version 1'],
      [-29, 'alerts', 'ChainStill', FIRING],
    ]),
  ).toEqual(['ChainStill'])
})

test('a time before the first event is unknown; without an event in it, nothing happened', () => {
  expect(recorded([[1, 'services', 'bft', 'failed']])).toBeNull()
  expect(recorded([])).toBeNull()
  expect(recorded([[-60, 'services', 'bft', 'failed']])).toEqual([])
})
