import { expect, onTestFinished, test } from 'vitest'
import { createEndpoints, serveEndpoint } from '../../simulator/endpoints.ts'
import { eventually } from '../support/eventually.ts'
import { playLines } from './play.ts'

test('each port is open while its service runs', async () => {
  const { node, clock, to } = playLines(
    '10s native vanishes',
    '20s otelcol stops',
    '30s otelcol starts',
    '30s native returns',
    '40s bft stops',
  )
  const endpoints = createEndpoints(node)
  const ports = [await serveEndpoint(endpoints.native, 0), await serveEndpoint(endpoints.otel, 0)] as const
  const stop = new AbortController()
  const kept = Promise.all(ports.map(async (port) => port.keep({ clock, signal: stop.signal })))
  onTestFinished(async () => {
    stop.abort()
    await kept
    await Promise.all(ports.map(async (port) => port.shut()))
  })
  const statusOf = async (url: string): Promise<number | 'refused'> =>
    fetch(url).then(
      async (response) => response.text().then(() => response.status),
      () => 'refused',
    )
  for (const [second, expected] of [
    [1, '200,200'],
    [11, 'refused,200'],
    [21, 'refused,refused'],
    [31, '200,200'],
    [41, 'refused,200'],
  ] as const) {
    await to(second)
    await eventually(
      async () => (await Promise.all(ports.map(({ url }) => statusOf(`${url}/metrics`)))).join(),
      expected,
    )
  }
  expect(await statusOf(ports[1].url)).toBe(404)
})
