import { readFileSync } from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { collectorError } from '../../src/core/board.ts'
import { SourceError } from '../../src/core/errors.ts'
import type { Event } from '../../src/domain/event.ts'
import { readEventsQuery, renderEvents, renderHealth, renderStatus } from '../../src/exporter/api.ts'
import { API_SCHEMAS } from '../../src/parsers/agent-api.ts'
import { agentView, findingOf } from '../support/agent-view.ts'
import { openHost } from '../support/host.ts'
import { shipped } from '../support/shipped.ts'
import { HEALTHY } from '../support/snapshot.ts'
import { askView } from './serve-view.ts'

type SchemaName = keyof typeof API_SCHEMAS

/** Expects JSON with exactly the fields of a schema: parsing removes all others. */
const expectOnly = (name: SchemaName, text: string): void => {
  const body: unknown = JSON.parse(text)
  expect(API_SCHEMAS[name].parse(body)).toStrictEqual(body)
}

const DOCUMENT = readFileSync('page/openapi.json', 'utf8')
const openApi = z
  .object({
    paths: z.record(
      z.string(),
      z.object({
        get: z
          .object({
            operationId: z.string(),
            parameters: z.array(z.object({ name: z.string(), schema: z.record(z.string(), z.unknown()) })).default([]),
            responses: z.object({
              200: z.object({
                content: z.record(z.string(), z.object({ schema: z.object({ $ref: z.string().optional() }) })),
              }),
            }),
          })
          .optional(),
      }),
    ),
  })
  .parse(JSON.parse(DOCUMENT))

/** The schema of the body at a path, and its media type, by the document. */
const documented = Object.entries(openApi.paths).flatMap(([path, { get }]) => {
  if (!get) return []
  const [[type, media] = ['', undefined]] = Object.entries(get.responses[200].content)
  const ref = media?.schema.$ref?.replace('#/components/schemas/', '')
  return [{ path, type, schema: Object.keys(API_SCHEMAS).find((name): name is SchemaName => name === ref) }]
})

test('the OpenAPI document is valid', async () => {
  expect(await new Validator().validate(DOCUMENT)).toEqual({ valid: true })
})

test('the document has every path under /api/v1/ that the agent serves, and no other', () => {
  const served: string[] = []
  shipped.addAgentRoutes((path) => served.push(path.replaceAll(/:(\w+)/g, '{$1}')), agentView())
  const expected = served.filter((path) => path.startsWith('/api/')).toSorted()
  expect(Object.keys(openApi.paths).toSorted()).toEqual(expected)
})

test('the agent serves the document as it is in the package', async () => {
  const response = await (await askView())('/api/v1/openapi.json')
  expect([response.headers.get('content-type'), await response.text()]).toEqual([
    'application/json; charset=utf-8',
    DOCUMENT,
  ])
})

test.each(documented)('$path returns what is documented', async ({ path, type, schema }) => {
  const ask = await askView()
  const response = await ask(path)
  expect([response.status, response.headers.get('content-type')]).toEqual([200, `${type}; charset=utf-8`])
  if (schema) expectOnly(schema, await response.text())
  else expect(path).toMatch(/openapi/)
})

const FAILED = { help: 'help', enabled: true, up: false, lastSuccessAt: 0 }

test('the JSON contains no character that a terminal interprets, whatever systemd and the node report', async () => {
  const text = 'up\u202e\u2066\u200b\u001b[31m\u009b2J\u001b]0;title\u0007 since\u0085'
  const error = collectorError(new SourceError({ doing: 'read', happened: text, advice: text }))
  const statuses = [
    { ...FAILED, name: 'services', error, reading: { services: new Map([[text, { subState: text }]]) } },
  ]
  const ask = await askView({
    status: () => renderStatus({ version: text, startedAt: text, prefix: text }, statuses),
    health: () => Promise.resolve(renderHealth({ ...HEALTHY, failures: [text] })),
  })
  for (const path of ['/api/v1/status', '/api/v1/health']) {
    const body = await (await ask(path)).text()
    expect(body).toContain('up since')
    // A control character would be escaped in JSON.
    expect(body).not.toMatch(/[^\n -~\ufffd]|\\u/)
  }
})

test('home directories and keys in addresses are in no field of a collector or a finding', () => {
  const [text, redacted] = ['ask https://h/KEY of /home/op/x', 'ask https://h/… of ~/x']
  const error = collectorError(new SourceError({ doing: text, happened: 'none', advice: text }))
  const { collectors } = renderStatus({ version: '1', startedAt: '1970-01-01T00:00:00.000Z', prefix: null }, [
    { ...FAILED, name: 'rpc', error, reading: { list: [text], map: new Map([[text, { text }]]) } },
  ])
  expect(collectors['rpc']).toMatchObject({
    error: `Could not ${redacted}: none\n  what to do: ${redacted}`,
    advice: redacted,
    reading: { list: [redacted], map: { [redacted]: { text: redacted } } },
  })
  const { findings } = renderHealth({ ...HEALTHY, state: 'critical', findings: [findingOf({ description: text })] })
  expect(findings).toMatchObject([{ description: redacted }])
})

const AT = Date.UTC(2026, 2, 1)
const EVENT: Event = { id: 1, at: 0, collector: 'rpc', subject: null, from: null, to: 'working', severity: 'info' }
const FIVE_EVENTS = Array.from({ length: 5 }, (_, at) => {
  return { ...EVENT, id: at + 7, at: AT + at * 60_000, to: `state ${at}` }
})
const queried = (query: string) => {
  const read = readEventsQuery(new URLSearchParams(query))
  return typeof read === 'string' ? read : renderEvents(FIVE_EVENTS, read).events.map(({ to }) => to)
}

test.each([
  ['', ['state 0', 'state 1', 'state 2', 'state 3', 'state 4']],
  ['limit=2', ['state 3', 'state 4']],
  ['since=2026-03-01T00:02:00Z', ['state 2', 'state 3', 'state 4']],
  [`since=${AT / 1000 + 180}`, ['state 3', 'state 4']],
  ['since=2026-03-01T00:01:00Z&limit=1', ['state 4']],
  ['after=9', ['state 3', 'state 4']],
  ['after=11', []],
])('the events of ?%s', (query, expected) => {
  expect(queried(query)).toEqual(expected)
})

test.each([
  ['limit=many', /^limit/],
  ['since=soon', /^since: expected a time/],
  ['after=-1', /^after/],
])('the events of ?%s are an error', (query, message) => {
  expect(queried(query)).toMatch(message)
})

test('a page of events has the number that is kept, and how far they reach back', () => {
  const oldestAt = '2026-03-01T00:00:00.000Z'
  expect(renderEvents(FIVE_EVENTS, { limit: 1 })).toMatchObject({ total: 5, oldestAt, newestId: 11 })
  expect(renderEvents([], { limit: 1 })).toEqual({ total: 0, oldestAt: null, newestId: null, events: [] })
})

test('the limits of the parameter limit are those of the document', async () => {
  const events = Array.from({ length: 1001 }, (_, id) => ({ ...EVENT, id }))
  const ask = await askView({ events: () => Promise.resolve(events) })
  const { parameters = [] } = openApi.paths['/api/v1/events']?.get ?? {}
  const { minimum, maximum, default: usual } = parameters.find(({ name }) => name === 'limit')?.schema ?? {}
  expect([minimum, maximum, usual]).toEqual([1, 100_000, 1000])
  const statusOf = async (limit: number) => (await ask(`/api/v1/events?limit=${limit}`)).status
  expect([await statusOf(0), await statusOf(1)]).toEqual([400, 200])
  expect([await statusOf(100_000), await statusOf(100_001)]).toEqual([200, 400])
  const body = API_SCHEMAS.Events.parse(await (await ask('/api/v1/events')).json())
  expect(body.events.length).toBe(1000)
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

test.each([
  { scenario: 'service-crash', second: 150 },
  { scenario: 'statesync', second: 60 },
  { scenario: 'no-journal-permission', second: 60 },
])(
  'the responses of an agent in the scenario $scenario are as documented: times are RFC 3339, durations seconds',
  async (options) => {
    const host = await openHost(options)
    for (const { path, schema } of documented) {
      if (schema) expectOnly(schema, await host.page(path))
    }
    // The lists have elements, so that these are compared, too.
    const overview = API_SCHEMAS.Overview.parse(JSON.parse(await host.page('/api/v1/overview')))
    expect(overview.findings).not.toEqual([])
    expect(overview.events).not.toEqual([])
    const text = await host.page('/api/v1/status')
    const status = API_SCHEMAS.Status.parse(JSON.parse(text))
    const startedAt = 'reading.services.0.startedAt'
    expect(status.collectors['services']).toHaveProperty(startedAt, expect.stringMatching(RFC_3339))
    expect(faultsIn(JSON.parse(text))).toEqual([])
    const health = API_SCHEMAS.Health.parse(JSON.parse(await host.page('/api/v1/health')))
    expect(health.findings).not.toEqual([])
  },
)
