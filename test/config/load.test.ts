import { describe, expect, test } from 'vitest'
import { renderExampleConfig, renderSettings, settingsAsJson } from '../../src/config/render.ts'
import { parseConfigFile } from '../../src/config/file.ts'
import { keys } from '../../src/config/schema.ts'
import { type Inputs, loadConfig } from '../../src/config/load.ts'
import { ConfigError } from '../../src/core/errors.ts'

const KEY = `02${'ab'.repeat(32)}`
const load = (text: string, rest: Partial<Inputs> = {}) =>
  loadConfig({ file: parseConfigFile('agent.yaml', text), env: {}, flags: [], ...rest })
const problemsOf = (text: string, rest: Partial<Inputs> = {}): string => {
  try {
    load(text, rest)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return 'no problem'
}

test.each([
  [':9843', '::'],
  ['[::]:9843', '::'],
  ['[::1]:9843', '::1'],
  ['0.0.0.0:9843', '0.0.0.0'],
  ['localhost:9843', '127.0.0.1'],
  ['LocalHost:9843', '127.0.0.1'],
  ['constructor:9843', 'constructor'],
])('listen %s is on %s', (listen, host) => {
  expect(load(`listen: "${listen}"`).config.listen).toEqual({ host, port: 9843 })
})

test('precedence: file, environment, flag; the origin is reported', () => {
  const { config, settings } = load(
    'prefix: filed\nlog:\n  level: error\nrpc:\n  interval: 1s\nhost:\n  interval: 1m\n',
    {
      env: { CHAIN_AGENT_PREFIX: 'env', CHAIN_AGENT_RPC_INTERVAL: '5s', PATH: '/bin' },
      flags: [{ path: 'prefix', value: 'flag', typed: '--prefix' }],
    },
  )
  expect(config.prefix).toBe('flag')
  expect([config.rpc.interval, config.host.interval]).toEqual([5000, 60_000])
  const origins = Object.fromEntries(settings.map(({ path, origin }) => [path, origin]))
  expect(origins).toMatchObject({
    prefix: '--prefix',
    'rpc.interval': 'CHAIN_AGENT_RPC_INTERVAL',
    'host.interval': 'agent.yaml:7',
    'log.level': 'agent.yaml:3',
    'rpc.url': 'default',
  })
})

test('lists and switches from the environment are YAML, texts are taken as they are', () => {
  const { config } = load('', {
    env: {
      CHAIN_AGENT_REFERENCES: '[{name: a, url: "http://a.example"}, {url: "https://b.example/k", kind: query}]',
      CHAIN_AGENT_LEDGER_ENABLED: 'false',
      CHAIN_AGENT_NODE_PUBLIC_KEY: `0x${KEY.toUpperCase().replace('0X', '')}`,
    },
  })
  expect(config.references).toEqual([
    { name: 'a', url: 'http://a.example', kind: 'rpc', apiKeyFile: null },
    { name: 'b.example', url: 'https://b.example/k', kind: 'query', apiKeyFile: null },
  ])
  expect(config.ledger.enabled).toBe(false)
  expect(config.node.publicKey).toBe(KEY)
})

test('an empty section means its defaults', () => {
  expect(load('rpc:\nledger:\n').config.rpc.interval).toBe(2000)
})

describe('an invalid value is reported with position, value and expectation', () => {
  test.each([
    ['prefx: chain', '1: no such key: prefx; did you mean prefix?'],
    ['rpc:\n  url: http://a\n  intervall: 1s', '3: no such key: rpc.intervall; did you mean interval?'],
    ['rcp:\n  url: http://a', '1: no such key: rcp; did you mean rpc?'],
    ['reference: [{url: http://a}]', 'keys and values, got [{"url":"http://a"}]; did you mean references?'],
    ['references: {interval: 5s}', 'kind, apiKeyFile}, got {"interval":"5s"}; did you mean reference?'],
    ['rpc:\n  interval: soon', '2: rpc.interval: expected a duration between 50ms and 1d, like 2s, 500ms or'],
    ['rpc:\n  interval: 2', '2: rpc.interval: expected a duration like 2s, 500ms or 5m, got 2'],
    ['rpc:\n  interval: 1ms', '2: rpc.interval: expected a duration between 50ms and 1d'],
    ['rpc:\n  url: localhost:8080', '2: rpc.url: expected an http or https address, like http://localhost'],
    ['listen: 9843', '1: listen: expected HOST:PORT, got 9843'],
    ['listen: localhost:99999', '1: listen: expected HOST:PORT, like 127.0.0.1:9843, [::1]:9843, or :9843'],
    ['ledger:\n  enabled: maybe', '2: ledger.enabled: expected true or false, got "maybe"'],
    ['node:\n  publicKey: abc', '2: node.publicKey: expected a secp public key: 66 hex digits, got "abc"'],
    ['references:\n  - url: http://a\n    kind: rcp', '3: references.0.kind: expected rpc or query, got "rcp"'],
    ['references:\n  - adress: http://a', '2: no such key: references.0.adress; there are: name, url'],
    ['references: http://a', '1: references: expected a list of {name, url, kind, apiKeyFile}, got "http://a"'],
    ['references: [{url: http://a}, {url: http://a/2}]', '1: references: expected names that differ'],
    // The second would replace the state of the first.
    ['alertmanagers:\n  urls: [http://p/a, http://p/b]', '2: alertmanagers.urls: expected addresses that differ'],
    ['services:\n  required: [bft, nope]', '2: services.required: expected names of services.units, got'],
    ['- a\n- b', '1: expected keys and values'],
    ['startGuard:\n  agents: [https://host/?key=secret]', '2: startGuard.agents.0: expected a URL without user'],
    ['startGuard:\n  agents: [https://user:secret@host]', '2: startGuard.agents.0: expected a URL without user'],
  ])('%j', (text, expected) => {
    expect(problemsOf(text)).toMatch(/^agent\.yaml:\d: /)
    expect(problemsOf(text)).toContain(expected)
  })

  test('not YAML', () => {
    expect(problemsOf('rpc:\n  url: "unclosed\n')).toMatch(/^agent\.yaml:\d: not YAML: /)
    expect(problemsOf('rpc: *nowhere')).toMatch(/^agent\.yaml: not YAML: Unresolved alias/)
  })

  test('a key that is there twice, and a second document', () => {
    expect(problemsOf('prefix: a\nlisten: :1\nprefix: b\n')).toBe(
      'agent.yaml:3: prefix: this key is in the file twice, first in line 1: keep one, with the values of both',
    )
    expect(problemsOf('references:\n    - name: a\n    - url: b\n      "url": c\n')).toBe(
      'agent.yaml:4: references.url: this key is in the file twice, first in line 3: keep one, with the values of both',
    )
    expect(problemsOf('prefix: a\n---\nprefix: b\n')).toBe(
      'agent.yaml:2: a second document begins here: remove the line `---`, and keep each key once',
    )
  })

  test('in the environment and in a flag, all at once', () => {
    const env = {
      CHAIN_AGENT_LISTN: 'x',
      CHAIN_AGENT_CONFG: 'x',
      CHAIN_AGENT_APIKEY: 'x',
      CHAIN_AGENT_SPEED: 'x',
      CHAIN_AGENT_RPC_INTERVAL: 'never',
    }
    const flags = [{ path: 'rpc.urll', value: 'x', typed: '--set rpc.urll' }]
    expect(problemsOf('', { env, flags }).split('\n')).toEqual([
      'CHAIN_AGENT_LISTN: no such setting; did you mean CHAIN_AGENT_LISTEN?',
      'CHAIN_AGENT_CONFG: no such setting; did you mean CHAIN_AGENT_CONFIG?',
      'CHAIN_AGENT_APIKEY: no such setting; did you mean CHAIN_AGENT_API_KEY?',
      'CHAIN_AGENT_SPEED: no such setting',
      '--set rpc.urll: no such key: rpc.urll; did you mean rpc.url?',
      'CHAIN_AGENT_RPC_INTERVAL: rpc.interval: expected a duration between 50ms and 1d, like 2s, 500ms or 5m, got "never"',
    ])
  })
})

test.each([
  ['rpc.timeout', 'the time limit of a read follows from rpc.interval'],
  ['slo.interval', 'the interval of this collector is fixed'],
  ['ledger.timeout', 'the timeout of this collector is fixed'],
  ['tokens.watch', '`chain-agent balances` computes the balances of a token'],
  ['staking.schedule', 'the leader schedule is computed from the files of the node'],
  ['staking.epochBlocks', 'the length of an epoch is that of the chain in networks/staking.yaml'],
  ['reference.enabled', 'nothing is compared with `references: []`'],
  ['alertmanagers.enabled', 'no alert is sent with `alertmanagers.urls: []`'],
])('%s is rejected with what applies instead', (path, instead) => {
  const [section = '', key = ''] = path.split('.')
  const variable = `CHAIN_AGENT_${path.replace('.', '_').replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`
  const inFile = section === 'tokens' ? `agent.yaml:1: no such key: tokens` : `agent.yaml:2: no such key: ${path}`
  expect(problemsOf(`${section}:\n  ${key}: 1\n`)).toBe(`${inFile}; ${instead}`)
  expect(problemsOf('', { env: { [variable]: '1' } })).toBe(`${variable}: no such setting; ${instead}`)
  expect(problemsOf('', { flags: [{ path, value: '1', typed: '--set' }] })).toBe(
    `--set: no such key: ${path}; ${instead}`,
  )
})

test('the time limit of a read is that of the default interval, and longer with a longer one', () => {
  const timeoutAt = (interval: string) => load(`rpc:\n  interval: ${interval}\n`).config.rpc.timeout
  expect(['500ms', '2s', '4s', '1h'].map(timeoutAt)).toEqual([3000, 3000, 6000, 60_000])
  expect(load('').config.lifecycle).toEqual({ enabled: true, interval: 5000, timeout: 10_000 })
})

describe('secrets in invalid values', () => {
  test.each([
    'references:\n  - url: https://h.example/v2/SECRET\n  - url: https://h.example/v2/SECRET',
    'rpc:\n  url: wss://h.example/v3/SECRET',
    'rpc:\n  url: h.example/v3/SECRET',
    'rpc:\n  url: " https://h.example/SECRET"',
    'rpc:\n  url: user:SECRET@h.example',
    'references: https://h.example/SECRET',
    'startGuard:\n  agents: [https://h.example/?key=SECRET]',
    'listen: https://h.example/SECRET',
  ])('%j', (text) => {
    const problems = problemsOf(text)
    expect(problems).toMatch(/^agent\.yaml:\d: /)
    expect(problems).not.toContain('SECRET')
  })
})

test('one key set by two flags is an error', () => {
  const flags = [
    { path: 'listen', value: '127.0.0.1:1', typed: '--listen' },
    { path: 'listen', value: '127.0.0.1:2', typed: '--set listen' },
  ]
  expect(problemsOf('', { flags })).toBe('--listen and --set listen set the same key; use only one of them')
})

describe('what is shown', () => {
  const { settings } = load(
    'rpc:\n  url: HTTPS://user:hunter2@node.example/KEY123\nreferences:\n  - url: https://r.example/KEY456\n',
  )
  test.each([
    ['YAML', renderSettings(settings)],
    ['JSON', JSON.stringify(settingsAsJson(settings))],
  ])('secrets are not, as %s', (_, text) => {
    expect(text).not.toMatch(/hunter2|KEY123|KEY456/)
    expect(text).toContain('node.example')
    expect(text).toContain('r.example')
  })
  test('the effective configuration can be used again', () => {
    const expected = `authorityBalance: 2.5\n    beneficiary: '0x${'Ab'.repeat(20)}'`
    const text = `listen: 127.0.0.1:1\nservices:\n  required: [bft]\nstaking:\n  expected:\n    ${expected}\n`
    const { settings: some } = load(text)
    const again = load(renderSettings(some))
    expect(again.config).toEqual(load(text).config)
    expect(again.config.staking.expected).toEqual({
      beneficiary: `0x${'ab'.repeat(20)}`,
      authorityBalance: 2.5,
    })
  })
})

test('the example file has every key, and uncommented it is the default', () => {
  const example = renderExampleConfig()
  for (const { variable } of keys) expect(example).toContain(`(${variable})`)
  const uncommented = example
    .split('\n')
    .filter((line) => !/^\s*# /.test(line))
    .map((line) => line.replace(/^#/, ''))
    .join('\n')
  expect(load(uncommented).config).toEqual(loadConfig({ env: {}, flags: [] }).config)
})
