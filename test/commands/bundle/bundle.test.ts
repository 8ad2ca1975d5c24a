import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createSampleIndex } from '../../../src/core/metric.ts'
import { readConfig } from '../../../src/config/load.ts'
import { gatherBundle } from '../../../src/commands/bundle/action.ts'
import { cli } from '../../support/cli.ts'
import { it } from '../../support/directory.ts'
import { execPrinting } from '../../support/exec-printing.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { NoResponseError } from '../../../src/sources/http.ts'

const { config } = readConfig(undefined, {
  env: {},
  flags: [
    { path: 'prefix', value: 'zephyr', typed: '--prefix' },
    { path: 'state.directory', value: '/nowhere', typed: '--set' },
  ],
})

test('a journal that hangs is left out in time, with the reason, and the rest is there', async () => {
  const clock = manualClock(Date.UTC(2026, 2, 1))
  const exec = execPrinting(({ command }) =>
    command === 'systemctl' ? 'Id=zephyr-bft.service\n' : new Promise<never>(() => undefined),
  )
  let isDone = false
  const gathering = gatherBundle({
    config,
    clock,
    path: '',
    signal: new AbortController().signal,
    snapshot: null,
    verdict: '',
    settings: [],
    logsSince: clock.now() - 3_600_000,
    onStep: () => undefined,
    exec,
    ask: ({ url }) => Promise.reject(new NoResponseError('refused', url, 'ECONNREFUSED')),
  }).finally(() => {
    isDone = true
  })
  // Files are read in real time meanwhile.
  for (let turn = 0; turn < 10_000 && !isDone; turn += 1) await clock.advance(1000)
  expect(isDone).toBe(true)
  const bundle = await gathering
  expect(bundle.members.map(({ name }) => name)).toEqual([
    'manifest.json',
    'verdict.txt',
    'config.yaml',
    'versions.txt',
    'units.txt',
  ])
  const why = new Map(bundle.leftOut.map((one) => [one.name, one.why]))
  expect(why.get('logs/bft.log')).toContain('Could not run journalctl: there was no output for 10s')
  expect(why.get('events.json')).toContain('there is no such file, and the agent is not running')
})

test('every member is redacted, whatever it was made from', async () => {
  const [text, redacted] = ['https://h/KEY of /home/op/x, password=hunter2', 'https://h/… of ~/x, password=(redacted)']
  const clock = manualClock(Date.UTC(2026, 2, 1))
  const fail = () => Promise.reject(new Error(text))
  const entry = { __CURSOR: 's=1', __REALTIME_TIMESTAMP: `${clock.now()}000`, _PID: '9', MESSAGE: text }
  const exec = execPrinting(({ command, args }) =>
    args.includes('--version') ? fail() : command === 'journalctl' ? `${JSON.stringify(entry)}\n` : `${text}\n`,
  )
  const metric = (value: string): string => `chain_rpc_info{client_version="${value}"} 1\n`
  const error = { message: text, code: null, advice: null }
  const collector = { name: 'rpc', help: 'help', enabled: true, up: false, lastSuccessAt: 0, error, hasReading: true }
  const bundle = await gatherBundle({
    config,
    clock,
    path: '',
    signal: new AbortController().signal,
    snapshot: {
      at: clock.now(),
      origin: 'node',
      version: '1',
      prefix: 'chain',
      collectors: [collector],
      readings: {},
      known: createSampleIndex([]),
      health: { state: 'unknown', since: 0, unknownBecause: null, findings: [], failures: [] },
      epochs: new Map(),
      outbound: { alertmanagers: [] },
      devices: [],
      export: () => Promise.resolve({ metrics: metric(text), readings: { rpc: { text } } }),
    },
    verdict: text,
    settings: [{ path: 'references', value: [{ url: text }], origin: '/home/op/agent.yaml:1' }],
    logsSince: clock.now(),
    onStep: () => undefined,
    exec,
    ask: fail,
  })
  const shown = new Map(bundle.members.map((member) => [member.name, member.text]))
  expect(shown.get('verdict.txt')).toBe(redacted)
  expect(shown.get('config.yaml')).toContain('# ~/agent.yaml:1')
  expect(shown.get('metrics.txt')).toBe(metric(redacted))
  expect(JSON.parse(shown.get('status.json') ?? '')).toMatchObject({
    collectors: { rpc: { error: redacted, reading: { text: redacted } } },
  })
  expect(shown.get('versions.txt')).toContain(redacted)
  expect(shown.get('logs/bft.log')).toContain(redacted)
  expect(shown.get('manifest.json')).toContain('"labelled": 1')
  expect(shown.get('units.txt')).toContain(redacted)
  expect(bundle.leftOut).toContainEqual({ name: 'events.json', why: redacted })
  expect([...shown.values(), JSON.stringify(bundle.leftOut)].join()).not.toMatch(/KEY|hunter2|home/)
})

it('rejects a path that cannot be written before anything is collected', async ({ directory }) => {
  await writeFile(join(directory, 'taken.tar.gz'), '')
  let asked = 0
  const collect = (): Promise<never> => {
    asked += 1
    return Promise.reject(new Error('collected'))
  }
  const exec = execPrinting(collect)
  for (const [name, happened] of [
    ['taken.tar.gz', 'the file already exists'],
    ['none/x.tar.gz', 'there is no such directory'],
    ['taken.tar.gz/x', 'a part of the path is not a directory'],
  ] as const) {
    const file = join(directory, name)
    const { code, out, err } = await cli(['bundle', '-o', file], { overrides: { exec, ask: collect } })
    expect({ code, out, asked }).toEqual({ code: 1, out: '', asked: 0 })
    expect(err).toContain(`Could not write ${file}: ${happened}`)
  }
})
