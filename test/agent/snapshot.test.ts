import { expect, test } from 'vitest'
import { collectorStates, readingsOf } from '../../src/agent/snapshot.ts'

test('the readings and errors of a snapshot are redacted; what is unknown is null', () => {
  const text = 'https://h/KEY of /home/op/x'
  const statuses = [
    { name: 'rpc', help: 'h', enabled: true, up: false, lastSuccessAt: 1, error: new Error(text), reading: [text] },
    {
      name: 'host',
      help: 'h',
      enabled: true,
      up: undefined,
      lastSuccessAt: undefined,
      error: undefined,
      reading: undefined,
    },
  ]
  const redacted = 'https://h/… of ~/x'
  expect(readingsOf(statuses)).toEqual({ rpc: [redacted], host: undefined })
  const error = { message: redacted, code: null, advice: null }
  expect(collectorStates(statuses)).toEqual([
    { name: 'rpc', help: 'h', enabled: true, up: false, lastSuccessAt: 1, error, hasReading: true },
    { name: 'host', help: 'h', enabled: true, up: null, lastSuccessAt: null, error: null, hasReading: false },
  ])
})
