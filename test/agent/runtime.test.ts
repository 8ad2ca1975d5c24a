import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { changedKeys, loadConfig } from '../../src/config/load.ts'
import { keys, type Config } from '../../src/config/schema.ts'
import { createApply } from '../../src/agent/agent.ts'
import { createRuntime } from '../../src/agent/runtime.ts'
import { systemClock } from '../../src/core/clock.ts'
import { execOf } from '../collectors/run-collector.ts'
import { temporaryFolder } from '../support/directory.ts'

const directory = await temporaryFolder()

const unused = () => Promise.reject(new Error('no program runs in these tests'))
/** `asked` receives the command lines. */
const runtime = async (asked: string[] = []) =>
  createRuntime({
    clock: systemClock,
    path: '',
    exec: execOf(({ command, args }) => {
      asked.push([command, ...args].join(' '))
      return unused()
    }),
    ask: unused,
    checkpoints: {
      open: () => ({ read: unused, save: () => Promise.resolve() }),
      isSaved: () => null,
      flush: () => Promise.resolve(),
    },
    ownsProcess: false,
    complain: () => undefined,
  })

const configOf = (flags: Readonly<Record<string, unknown>> = {}): Config =>
  loadConfig({
    env: {},
    flags: Object.entries(flags).map(([path, value]) => ({
      path,
      value: typeof value === 'string' ? value : JSON.stringify(value),
      typed: path,
    })),
  }).config

/** Collectors that are replaced by the second configuration. */
const replaced = async (before: Config, after: Config): Promise<readonly string[]> => {
  const { offer } = await runtime()
  const [first, second] = [offer(before), offer(after)]
  return second.flatMap(({ collector, enabled }, at) =>
    first[at]?.collector === collector && first[at].enabled === enabled ? [] : [collector.name],
  )
}

const REFERENCE = { name: 'other', url: 'http://127.0.0.1:1', kind: 'rpc' }
const WITH_PREFIX = [
  'services',
  'lifecycle',
  'ledger',
  'consensus',
  'execution',
  'logs',
  'storage',
  'status',
  'host',
  'native',
  'keys',
  'version',
  'schedule',
]

/** Another value, and the collectors that use the key in addition to that of its section. */
const CHANGES: Readonly<Record<string, { readonly to?: unknown; readonly also?: readonly string[] }>> = {
  prefix: { to: 'other', also: WITH_PREFIX },
  listen: { to: '127.0.0.1:1' },
  'log.level': { to: 'debug' },
  'node.publicKey': { to: `03${'7d'.repeat(32)}`, also: ['ledger', 'status', 'derived', 'schedule', 'staking'] },
  'node.directory': { also: ['host', 'keys', 'schedule'] },
  'node.environmentFile': { also: ['keys'] },
  'node.backupDirectory': { also: ['keys'] },
  references: { to: [REFERENCE], also: ['reference', 'status'] },
  'alertmanagers.urls': { to: ['http://127.0.0.1:1'] },
  'alertmanagers.job': { to: 'other' },
  'alertmanagers.instance': { to: '10.0.0.1:9843' },
  'alertmanagers.labels': { to: { cluster: 'a' } },
  'alertmanagers.runbooks': { to: 'http://127.0.0.1:1' },
  'alertmanagers.dashboards': { to: 'http://127.0.0.1:1' },
  'health.role': { to: 'rpc' },
  'health.objective': { to: 0.99, also: ['slo'] },
  'health.limits': { to: { ChainBehind: { warning: 6 } } },
  'health.disable': { to: ['ChainHostSetUp.smt'] },
  'rpc.url': { also: ['reference', 'staking', 'traffic'] },
  'services.units': {
    to: { bft: 'a.service', execution: 'b.service', rpc: 'c.service' },
    also: ['lifecycle', 'logs'],
  },
  'services.required': { to: ['bft'] },
  'storage.devices': { to: ['/dev/other'] },
  'version.package': { to: 'other' },
  'host.procfs': { also: ['alertmanagers', 'derived'] },
  'host.ports': { to: [1] },
  'host.firewalledPorts': { to: [1] },
  'derived.blocksyncWindow': { to: 500 },
  'host.fileSystems': { to: ['/'] },
  'native.namePrefix': { to: 'other' },
  'staking.validatorId': { to: 7 },
  'staking.withdrawals': { to: [3] },
  'staking.expected.authorityBalance': { to: 5 },
  'staking.expected.beneficiary': { to: `0x${'ab'.repeat(20)}` },
  'web.hosts': { to: ['node1'] },
  'watched.name': { to: 'other' },
  'watched.port': { to: 'other:8000' },
}

const OF_OTHER_COMMANDS = /^(?:serveQuery|startGuard)\./

/** Of several values, of a file, and of other keys. */
const TESTED_ALONE = ['version.forksFile', 'profile']

const otherValue = (path: string, byDefault: unknown): unknown => {
  const { to } = CHANGES[path] ?? {}
  if (to !== undefined) return to
  if (typeof byDefault === 'boolean') return !byDefault
  if (typeof byDefault === 'number') return byDefault + 1
  if (/\.(?:url|fallbackUrl)$/.test(path)) return 'http://127.0.0.1:1'
  if (path.endsWith('.unit')) return 'a.service'
  if (Array.isArray(byDefault)) return byDefault.concat('other')
  if (typeof byDefault === 'object' && byDefault !== null) return {}
  return path.endsWith('.interval') ? '17s' : '/another'
}

test.each(keys.filter(({ path }) => !OF_OTHER_COMMANDS.test(path) && !TESTED_ALONE.includes(path)))(
  '$path replaces the collectors that use it, and no others',
  async ({ path, byDefault }) => {
    const before = configOf()
    const valid = `test/agent/runtime.test.ts, CHANGES: another valid value of ${path} is its \`to\``
    expect(() => configOf({ [path]: otherValue(path, byDefault) }), valid).not.toThrow()
    const after = configOf({ [path]: otherValue(path, byDefault) })
    expect(changedKeys(before, after)).toEqual([path])
    const [section = ''] = path.split('.')
    const { offer } = await runtime()
    const own = offer(before).find(({ collector }) => collector.name === section)
    // One without work is not enabled in any case.
    const isReplaced = path.endsWith('.enabled') ? own?.enabled : own !== undefined
    const { also = [] } = CHANGES[path] ?? {}
    const rule = `test/agent/runtime.test.ts, CHANGES: a collector that uses ${path} of another section is in its \`also\``
    expect((await replaced(before, after)).toSorted(), rule).toEqual(
      [...(isReplaced ? [section] : []), ...also].toSorted(),
    )
  },
)

test('the profile watcher disables the collectors of the node, but for those that are enabled by name', async () => {
  const { offer } = await runtime()
  const config = configOf({ profile: 'watcher', 'host.enabled': true, 'watched.name': 'other', references: [] })
  const enabled = offer(config).flatMap(({ collector, enabled: isEnabled }) => (isEnabled ? [collector.name] : []))
  expect(enabled).toEqual(['host', 'staking', 'maintenance', 'watched'])
})

test('the replaced collector of the storage uses the new devices', async () => {
  const asked: string[] = []
  const { offer } = await runtime(asked)
  for (const devices of [['/dev/a'], ['/dev/b', '/dev/c']]) {
    const stopping = new AbortController()
    const offered = offer(configOf({ prefix: 'chain', 'storage.devices': devices }))
    const found = offered.find(({ collector }) => collector.name === 'storage')
    await found?.collector.run({ clock: systemClock, signal: stopping.signal }, () => stopping.abort())
  }
  expect(asked).toEqual(['chain-mpt --storage /dev/a', 'chain-mpt --storage /dev/b --storage /dev/c'])
})

test('another reference replaces the reference collector only', async () => {
  const of = (name: string) => configOf({ references: [{ ...REFERENCE, name }] })
  expect(await replaced(of('a'), of('b'))).toEqual(['reference'])
  expect(await replaced(of('a'), of('a'))).toEqual([])
})

test('a reload applies the log level, runs the collectors with the rest, and names what needs a restart', async () => {
  const log = { level: 'info' }
  const runs: Config[] = []
  const run = (next: Config) => {
    runs.push(next)
    return Promise.resolve(['rpc'])
  }
  const before = configOf()
  const apply = createApply({ config: before, log, run })
  const more = { 'log.level': 'debug', 'rpc.url': 'http://127.0.0.1:1', 'names.file': '/x' }
  const first = await apply(configOf({ ...more, listen: '127.0.0.1:1' }))
  expect(first).toEqual({ applied: ['log.level', 'rpc.url'], pending: ['listen'], collectors: ['rpc'] })
  expect([log.level, runs[0]?.rpc.url, runs[0]?.listen]).toEqual(['debug', 'http://127.0.0.1:1', before.listen])
  expect(await apply(configOf(more))).toMatchObject({ applied: [], pending: [] })
  expect((await apply(configOf({ ...more, profile: 'watcher' }))).pending).toContain('profile')
  expect(runs.length).toBe(2)
})

test('the file of forks is read again: other forks replace the collector, invalid ones throw', async () => {
  const file = join(directory, 'forks.yaml')
  const write = (activation: string) =>
    writeFile(file, `'143':\n  - {name: NEXT, kind: fork, activation: ${activation}}\n`)
  const { offer } = await runtime()
  const config = configOf({ 'version.forksFile': file })
  const offered = () => new Map(offer(config).map(({ collector }) => [collector.name, collector]))
  await write('2030-01-01')
  const first = offered()
  const others = () => [...offered()].flatMap(([name, collector]) => (first.get(name) === collector ? [] : [name]))
  expect(others()).toEqual([])
  await write('2031-01-01')
  expect(others()).toEqual(['version'])
  await write('soon')
  expect(offered).toThrow(/forks\.yaml:2: .*expected a time/)
})
