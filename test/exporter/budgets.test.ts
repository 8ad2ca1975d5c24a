import { expect, test } from 'vitest'
import ROUTE_BUDGETS from '../../scripts/pages/route-budgets.json' with { type: 'json' }
import { createRoutes } from '../../src/exporter/monitoring.ts'
import { addAgentRoutes } from '../../src/exporter/server.ts'
import { agentView } from '../support/agent-view.ts'
import { cpuMsSince } from '../support/cpu-time.ts'
import { openHost } from '../support/host.ts'

/** The machines of the tests are slower than the reference, and the CPU time of client and node is part of the figure. */
const MARGIN = 5

/** The paths that the agent serves; files of the page have one budget. */
const routes = (): ReadonlySet<string> => {
  const paths = new Set<string>()
  const texts = { healthy: '', ready: '', unknown: '' }
  const monitoring = createRoutes(agentView(), texts)
  for (const path of ['/metrics', '/-/healthy', '/-/ready']) paths.add(path)
  addAgentRoutes((path, ...rest) => {
    paths.add(/\.(?:css|js|json)$/.test(path) ? 'page and API description' : path)
    monitoring.add(path, ...rest)
  }, agentView())
  return paths
}

test('each path has a budget', () => {
  expect([...routes()].toSorted()).toEqual(Object.keys(ROUTE_BUDGETS).toSorted())
})

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

/** An answer is shared for some seconds: each of these requests is computed. */
const REQUESTS = 5

test('a request takes the CPU time and the size that are stated', async () => {
  const host = await openHost({ scenario: 'healthy-busy', second: 150 })
  for (let quarter = 0; quarter < 8; quarter += 1) await host.pass(15)
  const beyond: string[] = []
  for (const [route, { cpuMs, kib }] of Object.entries(ROUTE_BUDGETS)) {
    // For a watcher.
    if (route === '/api/v1/heartbeat') continue
    const path = route.startsWith('/') ? route.replace(':name', 'ChainServiceDown') : '/api/v1/openapi.json'
    const costs: number[] = []
    let size = 0
    for (let index = 0; index < REQUESTS; index += 1) {
      await host.pass(6)
      const begun = process.cpuUsage()
      size = Buffer.byteLength(await host.page(path))
      costs.push(cpuMsSince(begun))
    }
    expect(size, route).toBeGreaterThan(0)
    if (median(costs) > MARGIN * cpuMs || size > kib * 1024) beyond.push(`${route}: ${median(costs)} ms, ${size} bytes`)
  }
  expect(beyond).toEqual([])
})
