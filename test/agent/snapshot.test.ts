import { expect, test } from 'vitest'
import { collectorError } from '../../src/core/board.ts'
import { collectorStates, readingsOf } from '../../src/agent/snapshot.ts'

test('the readings and errors of a snapshot are redacted; what is unknown is null', () => {
  const text = 'https://h/KEY of /home/op/x'
  const base = { help: 'h', enabled: true }
  const statuses = [
    { ...base, name: 'rpc', up: false, lastSuccessAt: 1, error: collectorError(new Error(text)), reading: [text] },
    { ...base, name: 'host', up: null, lastSuccessAt: null, error: null, reading: undefined },
  ]
  const redacted = 'https://h/… of ~/x'
  expect(readingsOf(statuses)).toEqual({ rpc: [redacted], host: undefined })
  const error = { message: redacted, code: null, advice: null }
  expect(collectorStates(statuses)).toEqual([
    { ...base, name: 'rpc', up: false, lastSuccessAt: 1, error, hasReading: true },
    { ...base, name: 'host', up: null, lastSuccessAt: null, error: null, hasReading: false },
  ])
})
