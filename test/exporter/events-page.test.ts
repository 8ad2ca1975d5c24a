import { expect, test } from 'vitest'
import type { Event } from '../../src/domain/event.ts'
import { readEventsQuery, renderEvents } from '../../src/exporter/api.ts'

const AT = Date.UTC(2026, 2, 1)
const events = Array.from({ length: 5 }, (_, at): Event => ({
  id: at + 7,
  at: AT + at * 60_000,
  collector: 'rpc',
  subject: null,
  from: null,
  to: `state ${at}`,
  severity: 'info',
}))
const asked = (query: string) => {
  const read = readEventsQuery(new URLSearchParams(query))
  return typeof read === 'string' ? read : renderEvents(events, read).events.map(({ to }) => to)
}

test.each([
  ['', ['state 0', 'state 1', 'state 2', 'state 3', 'state 4']],
  ['limit=2', ['state 3', 'state 4']],
  ['since=2026-03-01T00:02:00Z', ['state 2', 'state 3', 'state 4']],
  [`since=${AT / 1000 + 180}`, ['state 3', 'state 4']],
  ['since=2026-03-01T00:01:00Z&limit=1', ['state 4']],
  ['after=9', ['state 3', 'state 4']],
  ['after=11', []],
])('?%s', (query, expected) => {
  expect(asked(query)).toEqual(expected)
})

test.each([
  ['limit=0', /^limit: expected a number from 1/],
  ['limit=many', /^limit/],
  ['since=soon', /^since: expected a time/],
  ['after=-1', /^after/],
])('?%s is refused', (query, says) => {
  expect(asked(query)).toMatch(says)
})

test('tells how many are kept, and how far they reach back', () => {
  expect(renderEvents(events, { limit: 1 })).toMatchObject({
    total: 5,
    oldestAt: '2026-03-01T00:00:00.000Z',
    newestId: 11,
  })
  expect(renderEvents([], { limit: 1 })).toEqual({
    total: 0,
    oldestAt: null,
    newestId: null,
    events: [],
  })
})
