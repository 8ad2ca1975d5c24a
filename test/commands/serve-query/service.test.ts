import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hashSync } from 'bcryptjs'
import { expect } from 'vitest'
import { serviceMetrics } from '../../../query/service/metrics.ts'
import type { LogStore } from '../../../query/store/store.ts'
import { askServer, makeCertificate } from '../../support/certificates.ts'
import { it as directoryTest } from '../../support/directory.ts'
import { eventually } from '../../support/eventually.ts'
import { servedStore } from '../../support/memory-store.ts'
import { type QueryService, startQueryService } from '../../support/query-service.ts'
import { contract, startRpcNode } from '../../support/rpc-node.ts'

interface StartOptions {
  readonly store?: LogStore
  readonly height?: number
  readonly web?: Readonly<Record<string, unknown>>
}

const it = directoryTest.extend(
  'start',
  ({ onTestFinished }) =>
    async (
      settings: Readonly<Record<string, unknown>>,
      { store = servedStore(), height = 50, web = {} }: StartOptions = {},
    ) => {
      const node = await startRpcNode({ height })
      onTestFinished(node.close)
      const service = await startQueryService({ rpcUrl: node.url, store, settings, web })
      onTestFinished(service.stop)
      return { node, service }
    },
)

const ask = async ({ url }: QueryService, body: unknown): Promise<string> => {
  const response = await fetch(`${url}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return `${response.status} ${await response.text()}`
}
const reaches = ({ url }: QueryService, height: number) =>
  eventually(async () => (await fetch(`${url}/height`)).text(), `{"height":${height}}`)
const ALL = { from_block: 0, logs: [{}], field_selection: { log: ['data'] } }

/** Space that follows what is held. */
const measured = (): LogStore => {
  const store = servedStore()
  const size = async () => ({ ...(await store.size()), bytes: 1000 * (await store.size()).blocks })
  return { ...store, size }
}

/** Lines of each metric; the parts of a histogram belong to it. */
const linesOf = (text: string, name: string): string =>
  text
    .split('\n')
    .filter((line) => new RegExp(`^${name}(?:_bucket|_sum|_count)?[{ ]`).test(line))
    .join('\n')

/** What one run cannot change. */
const CONSTANT = [
  'chain_query_service_blocks_corrected_total',
  'chain_query_service_store_limit_bytes',
  'chain_agent_config_last_reload_successful',
  'chain_agent_config_last_reload_success_timestamp_seconds',
]

const DELAYS = 'chain_agent_event_loop_delay_seconds_count'

it('every metric of the catalogue exists and changes, in few series, and none of the collectors', async ({ start }) => {
  const settings = { retentionBlocks: 120, retentionBytes: '10MB' }
  const { node, service } = await start(settings, { store: measured() })
  await eventually(service.ready, '200 The service is ready.')
  expect(await ask(service, ALL)).toMatch(/^200/)
  const before = await eventually(service.look, ({ value }) =>
    [
      // Measured each half second.
      value(DELAYS) !== undefined,
      // 0, 1, 2, 3 and again, in blocks 0 to 50.
      value('chain_query_service_store_logs') === 75,
      value('chain_query_service_phase', { phase: 'tail' }) === 1,
    ].every(Boolean),
  )
  // A fault of the node, and more blocks than are kept.
  let faults = 1
  node.faults = () => {
    faults -= 1
    return faults < 0 ? undefined : { kind: 'reply', status: 429, body: '' }
  }
  node.chain.setHeight(400)
  await reaches(service, 400)
  expect(await ask(service, { ...ALL, from_block: 390 })).toMatch(/^200/)
  await fetch(`${service.url}/elsewhere`)
  const heights = await fetch(`${service.url}/height/sse`)
  const after = await eventually(service.look, ({ value }) =>
    [(value('chain_query_service_store_logs') ?? 75) !== 75, value(DELAYS) !== before.value(DELAYS)].every(Boolean),
  )

  const names = Object.keys(serviceMetrics)
  const lines = (seen: { readonly text: string }) => new Map(names.map((name) => [name, linesOf(seen.text, name)]))
  expect(names.filter((name) => lines(before).get(name) === '')).toEqual([])
  const isSame = (name: string): boolean => lines(before).get(name) === lines(after).get(name)
  // It was at the tip before and after.
  const still = names.filter((name) => isSame(name) && name !== 'chain_query_service_phase')
  expect(still).toEqual(CONSTANT)
  expect(after.value('chain_query_service_ingest_errors_total', { kind: 'overload' })).toBe(1)
  expect(after.value('chain_query_service_height')).toBe(400)
  expect(after.value('chain_query_service_height_streams')).toBe(1)
  await heights.body?.cancel()
  expect(after.value('chain_query_service_first_block')).toBeGreaterThan(200)
  const code = { path: '/query', code: '200' }
  expect(after.value('chain_query_service_requests_total', code)).toBe(2)
  expect(after.value('chain_query_service_requests_total', { path: 'other' })).toBe(1)
  const series = after.text.split('\n').filter((line) => /^[a-z]/.test(line))
  expect(
    series.filter((line) => !/^(?:chain_query_service_|chain_agent_(?:config|event_loop)_|process_)/.test(line)),
  ).toEqual([])
  expect(series.length).toBeLessThan(120)
})

it('shows a page of the same values, with the headers of the agent', async ({ start }) => {
  const { service } = await start({ unbounded: true })
  await reaches(service, 50)
  const page = async () => fetch(`${service.operations}/`)
  const text = await eventually(async () => (await page()).text(), / FOLLOWING:|>FOLLOWING:</)
  expect(text).toContain('51 of 51 blocks')
  const { headers } = await page()
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('content-security-policy')).toContain("default-src 'none'; style-src 'self'")
  for (const [, path = ''] of text.matchAll(/(?:href|src)="(\/[^"]*)"/g))
    expect([path, (await fetch(service.operations + path)).status]).toEqual([path, 200])
})

it('reloads API keys and limits while it runs, and names what needs a restart', async ({ start, directory }) => {
  const apiKeysFile = join(directory, 'keys')
  const [first, second] = ['1'.repeat(32), '2'.repeat(32)]
  const settings = { unbounded: true, apiKeysFile }
  await writeFile(apiKeysFile, first)
  const { service } = await start(settings)
  const statusWith = async (key: string): Promise<number> => {
    const headers = { authorization: `Bearer ${key}` }
    return (await fetch(`${service.url}/height`, { headers })).status
  }
  const logged = async (line: string): Promise<void> => {
    await eventually(
      () => service.lines,
      (lines) => lines.includes(line),
    )
    service.lines.splice(0)
  }
  await eventually(() => statusWith(first), 200)

  service.reload(settings)
  await logged('info Configuration reloaded: nothing changed')
  await writeFile(apiKeysFile, second)
  service.reload(settings)
  await logged('info Configuration reloaded: applied serveQuery.apiKeysFile')
  expect([await statusWith(first), await statusWith(second)]).toEqual([401, 200])

  const loadedAt = 'chain_agent_config_last_reload_success_timestamp_seconds'
  const before = await service.look()
  expect(before.value('chain_agent_config_last_reload_successful')).toBe(1)
  await writeFile(apiKeysFile, 'short')
  service.reload({ ...settings, rateLimit: 1 })
  await eventually(
    () => service.lines.join('\n'),
    /^error The configuration cannot be used; [^]*line 1 is not a valid key/m,
  )
  service.lines.splice(0)
  expect([await statusWith(second), await statusWith(second)]).toEqual([200, 200])
  const failed = await eventually(service.look, ({ value }) => value('chain_agent_config_last_reload_successful') === 0)
  expect(failed.value(loadedAt)).toBe(before.value(loadedAt))

  await writeFile(apiKeysFile, second)
  service.reload({ ...settings, rateLimit: 1, readyLag: 5, dialect: 'hosted', fromBlock: 7 })
  await logged('warn Restart the query service to apply: serveQuery.fromBlock, serveQuery.dialect')
  expect([await statusWith(second), await statusWith(second)]).toEqual([200, 429])
  const after = await eventually(service.look, ({ value }) => value('chain_agent_config_last_reload_successful') === 1)
  expect(after.value(loadedAt)).toBeGreaterThan(before.value(loadedAt) ?? Infinity)
})

it('rejects queries once the chain differs from the store, and logs it', async ({ start }) => {
  const { node, service } = await start({ contracts: [contract(1)] })
  await reaches(service, 50)
  node.chain.fork(40)
  node.chain.setHeight(60)
  await eventually(service.ready, (seen) => seen.includes('the ingest has stopped'))
  expect(await ask(service, ALL)).toBe(
    '503 {"error":{"code":"stopped","message":"the service no longer follows the chain; see its log","path":null}}',
  )
  expect(service.lines.filter((line) => line.startsWith('error'))).toHaveLength(1)
  const { value } = await service.look()
  expect(value('chain_query_service_phase', { phase: 'stopped' })).toBe(1)
  expect(value('chain_query_service_ingest_errors_total', { kind: 'unlinked' })).toBe(1)
  expect(value('chain_query_service_requests_total', { path: '/query', code: '503' })).toBe(1)
})

it.for([
  [{ listen: '0.0.0.0:0' }, 1],
  [{ listen: '127.0.0.1:0' }, 0],
] as const)('an address for everybody without keys is worth a warning: %j', async ([settings, warnings], { start }) => {
  const { service } = await start({ unbounded: true, ...settings })
  expect(service.lines.filter((line) => /^warn .*--api-keys-file/.test(line))).toHaveLength(warnings)
})

it('passwords protect the metrics, and the queries unless they need keys', async ({ start, directory }) => {
  const configFile = join(directory, 'web.yml')
  const apiKeysFile = join(directory, 'keys')
  const key = '1'.repeat(32)
  await writeFile(configFile, `basic_auth_users:\n  ada: ${hashSync('right', 4)}\n`)
  await writeFile(apiKeysFile, key)
  const { service } = await start({ unbounded: true }, { web: { configFile } })
  const statusOf = async (url: string, authorization?: string): Promise<number> =>
    (await fetch(url, { headers: authorization === undefined ? {} : { authorization } })).status
  const password = `Basic ${Buffer.from('ada:right').toString('base64')}`
  const [height, metrics] = [`${service.url}/height`, `${service.operations}/metrics`]
  await eventually(() => statusOf(height, password), 200)
  expect(await statusOf(metrics, password)).toBe(200)
  expect([await statusOf(height), await statusOf(metrics)]).toEqual([401, 401])
  const rejected = await fetch(height)
  expect(await rejected.json()).toEqual({
    error: { code: 'unauthorized', message: 'a user name and password of basic_auth_users are required', path: null },
  })
  service.reload({ unbounded: true, apiKeysFile })
  await eventually(() => statusOf(height, `Bearer ${key}`), 200)
  expect([await statusOf(height, password), await statusOf(metrics, `Bearer ${key}`)]).toEqual([401, 401])
  expect(await statusOf(metrics, password)).toBe(200)
})

it('serves both addresses with TLS', async ({ start, directory }) => {
  const configFile = join(directory, 'web.yml')
  await makeCertificate(directory, 'server')
  await writeFile(configFile, 'tls_server_config: { cert_file: server.crt, key_file: server.key }\n')
  const { service } = await start({ unbounded: true }, { web: { configFile } })
  for (const url of [`${service.url}/height`, `${service.operations}/-/healthy`]) {
    const { protocol, port, pathname: path } = new URL(url)
    expect(protocol).toBe('https:')
    // 503 until the store is open.
    await eventually(async () => (await askServer({ protocol, port, path })).status, 200)
  }
})
