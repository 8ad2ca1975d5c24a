import { chmod, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { version } from '../../src/collectors/version/collector.ts'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import type { Fork } from '../../src/config/forks.ts'
import { type Sample, sample } from '../../src/core/metric.ts'
import type { TIMELINES } from '../../src/collectors/storage/definition.ts'
import { createExec } from '../../src/sources/exec.ts'
import { createInstalledFiles } from '../../src/sources/packages.ts'
import { temporaryFolder } from '../support/directory.ts'
import { manualClock } from '../support/manual-clock.ts'
import { recording } from './recording.ts'
import { pollOnce, readingOf, valuesOf } from './run-collector.ts'

const COMMIT = '1e5c'.repeat(10)

const directory = await temporaryFolder()
let bin = ''
beforeEach(async () => {
  bin = await mkdtemp(join(directory, 'bin-'))
})

/** Creates a program on PATH from a shell script. */
const program = async (name: string, script: string): Promise<void> => {
  await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`)
  await chmod(join(bin, name), 0o755)
}
const prints = (text: string): string => `cat <<'END'\n${text}\nEND`
const build = (tag: string, name = 'zephyr-node'): string =>
  prints(`${name} {"commit":"${COMMIT}","tag":"${tag}","branch":"","modified":true}`)
const dpkg = (row: string): string => `[ "$1" = -W ] && [ "$3" = zephyr ] || exit 2\n${prints(row)}`
/** Writes a file of apt or dpkg, by its path from the root of the host. */
const aptFile = async (path: string, text: string): Promise<void> => {
  const file = join(bin, 'root', path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}
const NOT_INSTALLED = 'echo "dpkg-query: no packages found matching $3" >&2; exit 1'

const rpcInfo = (clientVersion: string, chainId = '77'): Sample =>
  sample('chain_rpc_info', 1, { client_version: clientVersion, chain_id: chainId, net_version: '' })
const nativeInfo = (text: string): Sample => sample('chain_native_info', 1, { network: 'devnet', version: text })
const timeline = (kind: string, name: (typeof TIMELINES)[number] = 'primary'): Sample =>
  sample('chain_storage_timeline_info', 1, { timeline: name, kind })

const borealis: Fork = {
  name: 'borealis',
  kind: 'fork',
  activationAt: 4_000_000_000_000,
  minimumVersion: '0.16.1',
  timeline: 'page',
}

interface VersionRun {
  readonly published?: readonly Sample[]
  readonly programs?: readonly string[]
  readonly package?: string | null
  readonly timeout?: number
  readonly forksFile?: string | undefined
}

const create = (run: VersionRun) => {
  const record = recording()
  const board = { samples: run.published ?? [] }
  const collector = version({
    exec: createExec({ clock: systemClock, path: `${bin}:/usr/bin:/bin` }),
    recorder: record.recorder,
    readPrefix: () => Promise.resolve({ word: 'zephyr', from: 'configuration' }),
    installedFiles: createInstalledFiles({ root: join(bin, 'root'), path: bin }),
    published: () => board.samples,
    programs: run.programs ?? ['node'],
    package: run.package ?? null,
    rootDirectory: '/',
    forks: new Map([['77', [borealis]]]),
    forksReviewedAt: Date.UTC(2026, 8, 3),
    forksFile: run.forksFile ?? null,
    timing: { interval: 10, timeout: run.timeout ?? 20_000 },
  })
  return { collector, board, pollOnce: (clock: Clock = systemClock) => pollOnce(collector, clock), total: record.total }
}

/** The calls of a program that the test has put on PATH with `counted`. */
const callsOf = async (name: string): Promise<number> => (await readFile(join(bin, `${name}.calls`), 'utf8')).length
const counted = (name: string, script: string): string => `printf . >> ${join(bin, name)}.calls; ${script}`

/** One poll: the values by `name{labels}`, and the states. */
const pollVersion = async (run: VersionRun = {}, { collector, pollOnce: poll, total } = create(run)) => {
  const reading = readingOf(await poll())
  return { shown: valuesOf(collector.samples(reading)), states: collector.states(reading), total }
}

test.each([
  ['77', undefined, true],
  ['78', undefined, false],
  ['78', '/etc/forks.yaml', true],
])('the date of the list of forks: chain %s, own file %s: %j', async (chainId, forksFile, isShown) => {
  const { shown } = await pollVersion({ published: [rpcInfo('Zephyr/0.16.1', chainId)], forksFile })
  expect('forks_reviewed_timestamp_seconds' in shown).toBe(isShown)
})

test('installed, running, and ready for the fork', async () => {
  await program('zephyr-node', build('v0.16.1-rc'))
  await program('dpkg-query', dpkg('ii  zephyr 0.16.1 amd64 1700000000'))
  const published = [rpcInfo('Zephyr/0.16.1'), nativeInfo('0.16.1'), timeline('zephyr')]
  const { shown, states, total } = await pollVersion({ published })
  expect(shown).toEqual({
    [`node_build_info{node,0.16.1-rc,${COMMIT},v0.16.1-rc,,true}`]: 1,
    'node_running_info{rpc,0.16.1}': 1,
    'node_running_info{native,0.16.1}': 1,
    'package_info{zephyr,0.16.1}': 1,
    'package_held{node}': 0,
    version_mismatch: 0,
    forks_reviewed_timestamp_seconds: Date.UTC(2026, 8, 3) / 1000,
    'fork_activation_timestamp_seconds{borealis}': 4_000_000_000,
    'fork_ready{borealis,version}': 1,
    'fork_ready{borealis,timeline}': 1,
  })
  expect(states).toEqual({
    'installed version': '0.16.1',
    'running version': '0.16.1 (rpc), 0.16.1 (native)',
    restart: 'not due',
    upgrade: 'unknown: this host has no package lists',
    'program node': 'reports its version',
    'fork borealis': 'ready for 2096-10-02T07:06Z',
  })
  expect(total('chain_agent_lines_total{format=node-version,result=unparsed}')).toBe(0)
})

describe('the output of --version', () => {
  test.each([
    ['the samples of long ago', build('v0.12.2-rc'), 'node_build_info{node,0.12.2-rc,', undefined],
    ['a tag that is no version', build('nightly'), 'node_build_info{node,,', undefined],
    ['a name and a number', prints('zephyr-node 0.13.0'), 'node_build_info{node,0.13.0,,,,}', undefined],
    ['garbage', prints('Segmentation fault (maybe)'), null, 'could not parse the version of the node'],
    ['the C++ program', 'echo "not expected: --version" >&2\nexit 109', null, 'exit code 109'],
  ])('%s', async (...[, script, series, trouble]) => {
    await program('zephyr-node', script)
    await program('dpkg-query', dpkg('ii  zephyr 0.14.0 amd64'))
    const { shown, states, total } = await pollVersion()
    const names = Object.keys(shown)
    expect(shown).toHaveProperty(['package_info{zephyr,0.14.0}'], 1)
    expect(names.filter((name) => name.startsWith('node_build_info'))).toHaveLength(series === null ? 0 : 1)
    expect(names.join(' ')).toContain(series ?? '')
    expect(states['program node']).toContain(trouble ?? 'reports its version')
    const unparsed = total('chain_agent_lines_total{format=node-version,result=unparsed}') ?? 0
    expect(unparsed).toBe(trouble?.includes('parse') ? 1 : 0)
  })

  test('a program that hangs does not affect the others', async () => {
    await program('zephyr-node', 'sleep 60')
    await program('zephyr-rpc', build('v0.15.0', 'zephyr-rpc'))
    await program('dpkg-query', 'sleep 60')
    const { shown, states } = await pollVersion({ programs: ['node', 'rpc'], timeout: 4000 })
    expect(Object.keys(shown)).toEqual([`node_build_info{rpc,0.15.0,${COMMIT},v0.15.0,,true}`])
    expect(states['package']).toContain('none within 3s')
    expect(states).toMatchObject({
      'installed version': '0.15.0',
      'program node': 'could not get a response in time: none within 3s',
      'program rpc': 'reports its version',
    })
  })

  test('contains a secret: it is not exported', async () => {
    const secret = 'f00d'.repeat(16)
    await program(
      'zephyr-node',
      prints(`zephyr-node {"commit":"${secret}","tag":"v1.2.3","branch":"token=Qx7f9Lw2","modified":false}`),
    )
    const { shown } = await pollVersion()
    expect(JSON.stringify(shown)).not.toMatch(/f00df00d|Qx7f9Lw2/)
    expect(Object.keys(shown)[0]).toMatch(/^node_build_info\{node,1\.2\.3,,v1\.2\.3,/)
  })
})

describe('the package', () => {
  beforeEach(async () => program('zephyr-node', build('v0.15.1')))
  test.each([
    ['is not there', NOT_INSTALLED, null],
    ['was removed', dpkg('rc  zephyr 0.14.0 amd64'), null],
    ['is held', dpkg('hi  zephyr 1:0.15.0-2 amd64'), '1:0.15.0-2'],
  ])('%s', async (_, script, installed) => {
    await program('dpkg-query', script)
    const { shown, states } = await pollVersion()
    const names = Object.keys(shown).filter((name) => name.startsWith('package_info'))
    expect(names).toEqual(installed === null ? [] : [`package_info{zephyr,${installed}}`])
    expect(states['package']).toBeUndefined()
    expect(states['installed version']).toBe(installed?.replace('1:', '') ?? '0.15.1')
  })

  test.each([
    ['cannot be read: dpkg is locked', 'echo "dpkg-query: error: database is locked" >&2; exit 2', 0],
    ['cannot be read', 'echo "dpkg-query: error: cannot open" >&2; exit 1', 0],
    ['has another format', prints('desired=install name=zephyr'), 1],
  ])('%s: unknown, and the programs are used', async (_, script, unparsed) => {
    await program('dpkg-query', script)
    const { states, total } = await pollVersion()
    expect(states['package']).toMatch(/^unknown: could not /)
    expect(states['installed version']).toBe('0.15.1')
    expect(total('chain_agent_lines_total{format=dpkg,result=unparsed}') ?? 0).toBe(unparsed)
  })

  test('has the configured name', async () => {
    await program('dpkg-query', `[ "$3" = zephyr-stack ] || exit 2\n${prints('ii  zephyr-stack 0.15.1 amd64')}`)
    const { shown } = await pollVersion({ package: 'zephyr-stack' })
    expect(shown).toHaveProperty(['package_info{zephyr-stack,0.15.1}'], 1)
  })
})

describe('whether a restart is pending', () => {
  // Installed at second 1,700,000,000. An endpoint omits `+1`, and execution reports no version.
  const started = (service: string, seconds: number, isActive = true): readonly Sample[] => [
    sample('chain_service_start_timestamp_seconds', seconds, { service }),
    sample('chain_service_active', isActive, { service }),
  ]
  const [before, after] = [1_699_999_999, 1_700_000_000]
  const run = (rpc: string, native = rpc) => [rpcInfo(`Zephyr/${rpc}`), nativeInfo(native)]
  const notRestarted = [...started('bft', before), ...started('execution', before)]
  const restarted = [...started('bft', after), ...started('execution', after)]
  const bftOnly = [...run('0.16.2'), ...started('bft', after)]
  const REBUILD = '0.16.2+1'
  test.each<readonly [string, string, readonly Sample[], number | undefined]>([
    ['both processes run the old one', '0.17.0', run('0.16.1'), 1],
    ['consensus was forgotten', '0.17.0', run('0.17.0', '0.16.1'), 1],
    ['all run the new one', '0.17.0', run('0.17.0'), 0],
    ['the RPC hides it', '0.17.0', run('unknown', '0.17.0'), 0],
    ['no source reports it', '0.17.0', run('unknown', ''), undefined],
    ['the node is down', '0.17.0', [], undefined],
    ['nothing was restarted', REBUILD, [...run('0.16.2'), ...notRestarted], 1],
    ['all were restarted', REBUILD, [...run('0.16.2'), ...restarted], 0],
    ['execution was forgotten', REBUILD, [...bftOnly, ...started('execution', before)], 1],
    ['the RPC was forgotten', REBUILD, [...run('0.16.2'), ...restarted, ...started('rpc', before)], 1],
    ['execution is stopped', REBUILD, [...bftOnly, ...started('execution', before, false)], undefined],
    ['the services are not known', REBUILD, run('0.16.2'), undefined],
    ['no version is known', REBUILD, restarted, 0],
    ['the running numbers are others', REBUILD, [nativeInfo('0.16.1'), ...restarted], 1],
    ['the same version, reinstalled', '0.16.2', [...run('0.16.2'), ...notRestarted], 0],
  ])('%s: %s is installed', async (_, installed, ...[published, mismatch]) => {
    await program('zephyr-node', build(`v${installed.replace('+1', '')}`))
    await program('dpkg-query', dpkg(`ii  zephyr ${installed} amd64 1700000000`))
    expect((await pollVersion({ published })).shown['version_mismatch']).toBe(mismatch)
  })

  test('an unknown installed version is no mismatch and no failure', async () => {
    await program('zephyr-node', 'exit 2')
    await program('dpkg-query', NOT_INSTALLED)
    const { shown } = await pollVersion({ published: [nativeInfo('0.16.1')] })
    expect(shown).toEqual({ 'node_running_info{native,0.16.1}': 1 })
  })
})

test('if no version is known, the collector fails', async () => {
  await program('dpkg-query', NOT_INSTALLED)
  const outcome = await create({}).pollOnce()
  expect(outcome.ok ? '' : outcome.error.message).toContain('there is no zephyr-node on PATH')
})

describe('the forks', () => {
  const ready = async (...published: readonly Sample[]) => {
    await program('zephyr-node', build('v0.16.1'))
    const { shown } = await pollVersion({ published: [rpcInfo('Zephyr/0.16.1'), ...published] })
    return shown['fork_ready{borealis,timeline}']
  }
  const phase = (legacy: 0 | 1): Sample => sample('chain_native_migration_phase', legacy, { phase: 'legacy' })

  test.each([
    ['one timeline of pages', [timeline('zephyr')], 1],
    ['a second one of pages', [timeline('ethereum'), timeline('zephyr', 'secondary')], 1],
    ['none of pages', [timeline('ethereum')], 0],
    ['an unknown kind', [timeline('quantum')], undefined],
    ['an unknown kind, and consensus', [timeline('quantum'), phase(0)], undefined],
    ['consensus alone, moved', [phase(0)], 1],
    ['consensus alone, not moved', [phase(1)], 0],
    ['the report takes precedence', [timeline('zephyr'), phase(1)], 1],
    ['no source', [], undefined],
  ])('timeline: %s', async (_, published, expected) => {
    expect(await ready(...published)).toBe(expected)
  })

  test.each([
    ['known', [timeline('ethereum'), timeline('zephyr', 'secondary')], 0],
    ['unknown', [timeline('quantum')], 1],
  ])('a kind of timeline that is %s', async (_, published, unknown) => {
    await program('zephyr-node', build('v0.16.1'))
    const { states, total } = await pollVersion({ published })
    expect(total('chain_agent_lines_total{format=chain-mpt,result=unparsed}')).toBe(unknown)
    expect(states['unknown value, state machine kind']).toBe(
      unknown === 0 ? undefined : 'quantum (expected ethereum, zephyr)',
    )
  })

  test('are those of the chain; an unknown chain has none', async () => {
    await program('zephyr-node', build('v0.16.1'))
    const forks = async (...published: readonly Sample[]) =>
      Object.keys((await pollVersion({ published })).shown).filter((name) => name.startsWith('fork_'))
    expect(await forks()).toEqual([])
    expect(await forks(rpcInfo('Zephyr/0.16.1', '78'))).toEqual([])
    expect(await forks(rpcInfo('Zephyr/0.16.1', '77'))).toHaveLength(2)
  })

  test('are kept while the RPC is down, and can come from the status report', async () => {
    await program('zephyr-node', build('v0.16.1'))
    const empty = { hostname: '', version: '', network: '', chain: '', self_address: '' }
    const own = { ...empty, record_seq_num: '', secp_public_key: '' }
    const status = sample('chain_status_info', 1, { ...own, chain_id: '77' })
    const made = create({ published: [status] })
    const names = async () => Object.keys((await pollVersion({}, made)).shown)
    expect(await names()).toContain('fork_activation_timestamp_seconds{borealis}')
    made.board.samples = []
    expect(await names()).toContain('fork_activation_timestamp_seconds{borealis}')
  })
})

describe('between two polls', () => {
  const STATUS = 'var/lib/dpkg/status'
  const installed = (number: string) => counted('dpkg-query', dpkg(`ii  zephyr ${number} amd64 1700000000`))

  test('dpkg runs again if its file has changed, and after ten minutes', async () => {
    const clock = manualClock()
    await program('dpkg-query', installed('0.16.1'))
    await aptFile(STATUS, 'one')
    const created = create({ programs: [] })
    const poll = async () => readingOf(await created.pollOnce(clock)).installed
    expect(await poll()).toBe('0.16.1')
    await program('dpkg-query', installed('0.16.2'))
    await clock.advance(599_999)
    expect(await poll()).toBe('0.16.1')
    expect(await callsOf('dpkg-query')).toBe(1)
    await aptFile(STATUS, 'two and more')
    expect(await poll()).toBe('0.16.2')
    await program('dpkg-query', installed('0.16.3'))
    await clock.advance(600_000)
    expect(await poll()).toBe('0.16.3')
  })

  test('a program runs again if its file has changed, and after ten minutes; one that failed at each poll', async () => {
    const clock = manualClock()
    await program('dpkg-query', dpkg('ii  zephyr 0.16.1 amd64 1700000000'))
    const created = create({})
    const poll = async () => created.pollOnce(clock)
    await program('zephyr-node', counted('zephyr-node', 'exit 1'))
    await poll()
    await poll()
    expect(await callsOf('zephyr-node')).toBe(2)
    await program('zephyr-node', counted('zephyr-node', build('v0.16.1')))
    await poll()
    await clock.advance(599_999)
    await poll()
    expect(await callsOf('zephyr-node')).toBe(3)
    await clock.advance(1)
    await poll()
    expect(await callsOf('zephyr-node')).toBe(4)
    await program('zephyr-node', counted('zephyr-node', build('v0.16.1-rc')))
    await poll()
    expect(await callsOf('zephyr-node')).toBe(5)
  })
})

const LISTS = 'var/lib/apt/lists/lock'
/** apt-cache: the candidate, and the rows of its table. */
const policy = (candidate: string, ...rows: readonly string[]): string =>
  `[ "$1 $2" = 'policy zephyr' ] || exit 2\n` +
  prints(
    `zephyr:\n  Installed: 0.16.1\n  Candidate: ${candidate}\n  Version table:\n${rows.map((row) => `${row}\n`).join('')}`,
  )
const INSTALLED_ROW = ' *** 0.16.1 100\n        100 /var/lib/dpkg/status'
const offered = (number: string): string =>
  `     ${number} 500\n        500 http://packages.example stable/main amd64 Packages`
const LISTED_ROW = ' *** 0.16.1 500\n        500 http://packages.example stable/main amd64 Packages'

const INSTALLED = 'ii  zephyr 0.16.1 amd64 1700000000'

const upgradeWith = async (row: string) => {
  await program('zephyr-node', build('v0.16.1'))
  await program('dpkg-query', dpkg(row))
  const { shown, states } = await pollVersion()
  const relevant = Object.entries(shown).filter(([name]) => /^package_(?!info)/.test(name))
  return { shown: Object.fromEntries(relevant), state: states['upgrade'] }
}

test('a newer version in the lists, and a package on hold', async () => {
  await aptFile(LISTS, '')
  await program('apt-cache', policy('0.16.2', offered('0.16.2'), INSTALLED_ROW))
  const { shown, state } = await upgradeWith(INSTALLED.replace('ii', 'hi'))
  expect(state).toBe('0.16.2 is available; the package is on hold')
  const packages = { 'package_held{node}': 1, 'package_candidate_info{0.16.2}': 1 }
  expect(shown).toEqual({ ...packages, package_upgrade_available: 1 })
})

test('no newer version', async () => {
  await aptFile(LISTS, '')
  await program('apt-cache', policy('0.16.1', LISTED_ROW, offered('0.16.0')))
  const { shown, state } = await upgradeWith(INSTALLED)
  expect(state).toBe('none available')
  const packages = { 'package_held{node}': 0, 'package_candidate_info{0.16.1}': 1 }
  expect(shown).toEqual({ ...packages, package_upgrade_available: 0 })
})

test.each([
  ['a pin', policy('0.16.1', offered('0.16.2'), INSTALLED_ROW), 'none available; 0.16.2 is excluded by a pin', 0],
  // apt aligns priorities of up to four digits.
  [
    'a pin of all packages',
    policy('0.16.1', LISTED_ROW.replace('500\n        500', '1001\n       1001')),
    'none available',
    0,
  ],
  ['a list without the package', policy('0.16.1', INSTALLED_ROW), 'unknown: no package list has the package'],
  ['an unknown package', 'exit 0', 'unknown: no package list has the package'],
  ['another output', prints('Zephyr:'), 'unknown: no package list has the package'],
  ['an error', 'echo "E: no lists" >&2; exit 100', 'unknown: could not run apt-cache policy: exit code 100'],
])('what apt would install: %s', async (...[, script, expected, isAvailable]) => {
  await aptFile(LISTS, '')
  await program('apt-cache', script)
  const { shown, state } = await upgradeWith(INSTALLED)
  expect(state).toBe(expected)
  expect(shown['package_upgrade_available']).toBe(isAvailable)
})

test('apt-cache runs again if the packages, the lists or the preferences have changed, and after six hours', async () => {
  const clock = manualClock()
  const created = create({ programs: [] })
  const callsAfter = async (milliseconds: number): Promise<number> => {
    await clock.advance(milliseconds)
    await created.pollOnce(clock)
    return callsOf('apt-cache')
  }
  const HOUR = 3_600_000
  await program('dpkg-query', dpkg(INSTALLED))
  await program('apt-cache', counted('apt-cache', policy('0.16.1', LISTED_ROW)))
  await aptFile('var/lib/dpkg/status', 'one')
  await aptFile(LISTS, '')
  expect(await callsAfter(0)).toBe(1)
  expect(await callsAfter(6 * HOUR - 1)).toBe(1)
  expect(await callsAfter(1)).toBe(2)
  for (const [at, file] of [`${LISTS}.new`, 'var/lib/dpkg/status', 'etc/apt/preferences.d/zephyr.pref'].entries()) {
    await aptFile(file, 'changed')
    expect(await callsAfter(0), file).toBe(at + 3)
  }
  // Its directory is the same.
  await aptFile('etc/apt/preferences.d/zephyr.pref', 'changed again')
  expect(await callsAfter(0)).toBe(6)
  await program('apt-cache', counted('apt-cache', 'exit 100'))
  await aptFile(`${LISTS}.newer`, '')
  expect(await callsAfter(0)).toBe(7)
  expect(await callsAfter(HOUR / 6 - 1)).toBe(7)
  expect(await callsAfter(1)).toBe(8)
})
