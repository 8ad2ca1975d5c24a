import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { cli, startCli } from '../support/cli.ts'
import { freePort } from '../support/free-port.ts'
import { listening } from '../support/http.ts'

interface Asked {
  readonly path: string
  readonly form: URLSearchParams
}

interface Answer {
  readonly status?: number
  readonly text: string
}

const success = (data: unknown): Answer => ({ text: JSON.stringify({ status: 'success', data }) })
const NO_SERIES = success({ resultType: 'vector', result: [] })

const askedOf = async (request: IncomingMessage): Promise<Asked> => {
  const body = new URLSearchParams(await text(request))
  return { path: new URL(request.url ?? '', 'http://localhost').pathname, form: body }
}

/** A Prometheus below a path that has these metrics; `undefined` is no answer. */
const startApi = async (names: readonly string[], answer: (asked: Asked) => Answer | undefined) => {
  const queries: Asked[] = []
  let [open, most] = [0, 0]
  const server = createServer((request, response) => {
    open += 1
    most = Math.max(most, open)
    void askedOf(request).then((asked) => {
      const isList = asked.path === '/prom/api/v1/label/__name__/values'
      if (!isList) queries.push(asked)
      const given = isList ? success(names) : answer(asked)
      if (given === undefined) return
      open -= 1
      response.writeHead(given.status ?? 200).end(given.text)
    })
  })
  const { url, close } = await listening(server)
  onTestFinished(close)
  return { url: `${url}/prom/`, queries, most: () => most }
}

const isAbout =
  (metric: string) =>
  ({ form }: Asked): boolean =>
    form.get('query')?.includes(metric) ?? false

test('sends one query at a time, with the job and the labels also in recordings', async () => {
  const { url, queries, most } = await startApi(
    ['chain_block_difference', 'chain_agent_build_info', 'up'],
    () => NO_SERIES,
  )
  const { code, err } = await cli(['rules', '--estimate', url, '--job', 'nodes', '--labels', 'region,zone'])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(most()).toBe(1)
  expect(new Set(queries.map(({ path }) => path))).toEqual(new Set(['/prom/api/v1/query']))
  expect(new Set(queries.map(({ form }) => form.get('timeout')))).toEqual(new Set(['120']))
  const [behind] = queries.filter(isAbout('chain_block_difference'))
  expect(behind?.form.get('query')).toContain('3 * group by (instance, job, region, zone) (chain_block_difference)')
  expect(behind?.form.get('query')).toMatch(/\[2592000s:15s\]\)$/)
  expect(queries.filter(isAbout('up{job="nodes"} == 0')).length).toBeGreaterThan(0)
  expect(queries.filter(isAbout('chain-agent"}'))).toEqual([])
})

test('begins with the first sample of the agents', async () => {
  const first = Math.floor(Date.now() / 1000) - 3 * 86_400
  const { url, queries } = await startApi(['up'], ({ form }) =>
    form.get('query')?.startsWith('min(')
      ? success({ resultType: 'vector', result: [{ metric: {}, value: [first, String(first)] }] })
      : NO_SERIES,
  )
  const { code, out } = await cli(['rules', '--estimate', url, '--json'])
  expect(code).toBe(0)
  const [from = '', to = ''] = [...out.matchAll(/"(?:from|to)": "([^"]+)"/g)].map(([, time]) => time)
  // In steps of five minutes, and not before it.
  expect(Date.parse(from) / 1000 - first).toBeGreaterThanOrEqual(0)
  expect(Date.parse(from) / 1000 - first).toBeLessThanOrEqual(300)
  const [down] = queries.filter(isAbout('up{job="chain-agent"} == 0'))
  expect(down?.form.get('query')).toContain(`[${(Date.parse(to) - Date.parse(from)) / 1000}s:15s])`)
})

test.each([
  ['that exists since the beginning is used', ['instance:chain_behind:seconds'], 'instance:chain_behind:seconds > 20'],
  ['that began later is computed', [], 'chain_block_difference / on (instance, job, cluster)'],
])('a recorded series %s', async (_, since, expected) => {
  const names = ['instance:chain_behind:seconds', 'chain_block_difference', 'chain_blocks_per_second', 'up']
  const { url, queries } = await startApi(names, ({ form }) =>
    form.get('query')?.startsWith('count by (__name__)')
      ? success({
          resultType: 'vector',
          result: since.map((name) => ({ metric: { __name__: name }, value: [0, '1'] })),
        })
      : NO_SERIES,
  )
  expect((await cli(['rules', '--estimate', url])).code).toBe(0)
  expect(queries.filter(isAbout(expected)).length).toBeGreaterThan(0)
  const other = since.length > 0 ? 'chain_block_difference /' : 'chain_behind:seconds >'
  expect(queries.filter(isAbout(other))).toEqual([])
})

test('an error of one query is listed with its rule, and the others are estimated', async () => {
  const errors: Readonly<Record<string, Answer>> = {
    chain_rpc_up: {
      status: 422,
      text: JSON.stringify({
        status: 'error',
        errorType: 'execution',
        error: 'query processing would load too many samples',
      }),
    },
    // Of a proxy.
    chain_host_smt_active: { status: 504, text: '<h1>504 Gateway Time-out</h1>' },
  }
  const { url } = await startApi([...Object.keys(errors), 'up'], ({ form }) => {
    const [, error] = Object.entries(errors).find(([metric]) => form.get('query')?.includes(metric)) ?? []
    return error ?? NO_SERIES
  })
  const { code, out, err } = await cli(['rules', '--estimate', url], { env: { COLUMNS: '80' } })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const lines = out.split('\n')
  const at = lines.indexOf('Could not be evaluated:')
  expect(lines.slice(at, at + 3)).toEqual([
    'Could not be evaluated:',
    '  the response, of status 504, is not that of a Prometheus: ChainHostSetUp.smt',
    '  query processing would load too many samples: ChainRpcDown',
  ])
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
})

test('if no query can be evaluated, the exit code is 1', async () => {
  const { url } = await startApi(['up'], () => ({
    status: 503,
    text: JSON.stringify({ status: 'error', error: 'busy' }),
  }))
  const { code, out } = await cli(['rules', '--estimate', url, '--json'])
  expect(code).toBe(1)
  expect(out).toContain('"error": "busy"')
})

test('a page that is no Prometheus, and no server, are one error', async () => {
  const { url, close } = await listening(createServer((_, response) => response.end('<h1>Grafana</h1>')))
  onTestFinished(close)
  const page = await cli(['rules', '--estimate', url])
  expect({ code: page.code, out: page.out }).toEqual({ code: 1, out: '' })
  expect(page.err.split('\n')).toEqual([
    expect.stringMatching(
      /^Could not request http:\/\/127\.0\.0\.1:\d+\/…: the response, of status 200, is not that of a Prometheus$/,
    ),
    '  output: <h1>Grafana</h1>',
    '  what to do: check the address: it is that of the Prometheus that scrapes the agents, such as http://localhost:9090',
    '',
  ])
  const silent = await cli(['rules', '--estimate', `http://127.0.0.1:${await freePort()}`])
  expect({ code: silent.code, out: silent.out }).toEqual({ code: 1, out: '' })
  expect(silent.err).toMatch(/: no connection \(ECONNREFUSED\)\n {2}what to do: check the address/)
})

test('ends at once when it is interrupted', async () => {
  const running = { interrupt: (): void => undefined }
  const { url, queries } = await startApi(['up'], () => {
    running.interrupt()
    return undefined
  })
  const command = startCli(['rules', '--estimate', url])
  running.interrupt = () => void command.interrupt()
  const { code, out, err } = await command.ended
  expect({ code, out, err }).toEqual({ code: 1, out: '', err: 'Interrupted before there was a result.\n' })
  expect(queries).toHaveLength(1)
})

test.each([
  [
    ['--output', '/tmp/rules'],
    /^error: option '--estimate <url>' cannot be used with option '-o, --output <directory>'/,
  ],
  [['--format', 'prometheus'], /^error: option '--estimate <url>' cannot be used with option '--format <format>'/],
  [['--renamed', '-'], /cannot be used with option/],
  [['--days', '0'], /^error: invalid --days '0': expected a number of days from 1 to 365/],
  [['--set', 'ChainBehnd.warning=5'], /^error: --set ChainBehnd: expected the name/],
])('with %j is a usage error', async (argv, message) => {
  const { code, out, err } = await cli(['rules', '--estimate', 'http://127.0.0.1:9', ...argv])
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toMatch(message)
})

test.each([
  [['--days', '7'], 'error: --days is for --estimate\n'],
  [['--json'], 'error: --json is for --estimate and --renamed\n'],
])('%j alone is a usage error', async (argv, err) => {
  expect(await cli(['rules', ...argv])).toEqual({ code: 2, out: '', err })
})
