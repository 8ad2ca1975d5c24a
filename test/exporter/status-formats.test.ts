import { afterEach, expect, test } from 'vitest'
import { toApiJson } from '../../src/core/json.ts'
import { type Host, startHost } from '../support/host.ts'

let host: Host | undefined
afterEach(async () => {
  await host?.close()
  host = undefined
})

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const MOMENT = /^at$|At$|^until$|time(?:stamp)?$/i
const OTHER_UNIT = /(?:Ms|Millis|Milliseconds|Nanoseconds|Minutes|Hours)$/
/** A sample as in /metrics, whose unit is in the name of the metric. */
const SAMPLE_VALUE = /^collectors\.host\.reading\..*\.samples\.\d+\.value$/

/** What is wrong with the format of one value. */
const faultOf = (path: string, value: unknown): string | undefined => {
  const keys = path.split('.')
  const key = keys.at(-1) ?? ''
  const owner = keys.at(-2) ?? ''
  if (OTHER_UNIT.test(key)) return 'a duration that is not in seconds'
  const isRfc3339 = typeof value === 'string' && RFC_3339.test(value)
  if ((MOMENT.test(key) || owner.endsWith('At')) && value !== null && !isRfc3339) return 'a moment that is not RFC 3339'
  if (typeof value === 'number' && value > 1e9 && !key.endsWith('Bytes') && !SAMPLE_VALUE.test(path))
    return 'a number as large as an epoch'
  if (key.endsWith('Seconds') && value !== null && typeof value !== 'number') return 'a duration that is not a number'
  return undefined
}

const faultsIn = (value: unknown, path = ''): readonly string[] => {
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, entry]) => faultsIn(entry, path === '' ? key : `${path}.${key}`))
  }
  const fault = faultOf(path, value)
  return fault === undefined ? [] : [`${path} = ${String(value)}: ${fault}`]
}

test.each(['healthy', 'service-crash'])(
  'in the status of the scenario %s, moments are RFC 3339 and durations seconds',
  async (scenario) => {
    host = await startHost({ scenario, second: 60 })
    const status: unknown = await (await fetch(`http://127.0.0.1:${host.port}/api/v1/status`)).json()
    expect(status).toHaveProperty('collectors.services.reading.services.0.startedAt', expect.stringMatching(RFC_3339))
    expect(faultsIn(status)).toEqual([])
  },
)

test('the check finds each of the formats that the API had', () => {
  expect(faultsIn({ startedAt: 1795124041895, at: '1795315240', tookMs: 3, upSeconds: '4', n: 2e9 })).toEqual([
    'startedAt = 1795124041895: a moment that is not RFC 3339',
    'at = 1795315240: a moment that is not RFC 3339',
    'tookMs = 3: a duration that is not in seconds',
    'upSeconds = 4: a duration that is not a number',
    'n = 2000000000: a number as large as an epoch',
  ])
})

test('moments are converted by their key, in maps and lists as well', () => {
  const noon = Date.UTC(2026, 2, 1, 12)
  expect(
    toApiJson({
      at: noon,
      votedAt: null,
      oldestEntryAt: new Map([['bft', noon]]),
      flat: noon,
      list: [{ endedAt: noon }],
      farAt: 9e15,
      height: 2n ** 63n,
    }),
  ).toEqual({
    at: '2026-03-01T12:00:00.000Z',
    votedAt: null,
    oldestEntryAt: { bft: '2026-03-01T12:00:00.000Z' },
    flat: noon,
    list: [{ endedAt: '2026-03-01T12:00:00.000Z' }],
    farAt: null,
    height: '9223372036854775808',
  })
})
