import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { nodeArguments } from '../../src/commands/check/preflight/host.ts'
import { readUnitArguments } from '../../src/commands/shared/unit-arguments.ts'
import { argumentsSection, statusDocument } from '../../src/commands/status/page.ts'
import { temporaryFolder } from '../support/directory.ts'
import { shownIn, statusPage } from '../support/status-page.ts'
import { context, type Host } from './check/context.ts'

const directory = await temporaryFolder()
const CANARY = 'Hunter2'
const UNIT = 'chain-bft.service'
const packaged = join(directory, UNIT)
const PACKAGED =
  '[Service]\nExecStart=/bin/node --wal-chunks 8 --triedb-path /dev/triedb --keystore-password "${PASS}"\n'

beforeEach(async () => {
  await rm(directory, { recursive: true })
  await mkdir(directory)
  await writeFile(packaged, PACKAGED)
})

const dropIn = async (text: string): Promise<string> => {
  const path = join(directory, 'override.conf')
  await writeFile(path, `[Service]\nExecStart=\nExecStart=${text}\n`)
  return path
}

/** The host with that unit; consensus was started at `startedAt`. */
const host = (overrides = '', startedAt?: string): Host => ({
  tools: {
    'systemctl show': `Id=${UNIT}\nLoadState=loaded\nFragmentPath=${packaged}\nDropInPaths=${overrides}\nNeedDaemonReload=yes`,
  },
  collectors:
    startedAt === undefined
      ? []
      : [
          {
            name: 'services',
            up: true,
            reading: { services: [{ service: 'bft', activeState: 'active', startedAt }], timers: [] },
          },
        ],
})

/** Unit files are in a directory of the test. */
const contextOf = (given: Host) => ({
  ...context(given),
  packagedDirectory: directory,
  localDirectory: join(directory, 'local'),
})
const readBft = async (given: Host) => (await readUnitArguments(contextOf(given))).at(0)
const findings = async (given: Host) =>
  (await nodeArguments.run(contextOf(given))).map(({ name, severity }) => `${severity}: ${name}`)

describe('the arguments', () => {
  test('of the package alone', async () => {
    expect(await readBft(host())).toMatchObject({
      service: 'bft',
      unit: 'chain-bft',
      files: [packaged],
      differences: [],
      changed: null,
      isOutdated: true,
    })
  })
  test('of a drop-in: what it adds, removes and changes, without its values', async () => {
    const path = await dropIn(`/opt/node --triedb-path /dev/other --keystore-password ${CANARY} --api-token ${CANARY}`)
    const found = await readBft(host(path))
    expect(found?.differences).toEqual([
      { name: '(program)', change: 'changed' },
      { name: 'wal-chunks', change: 'removed' },
      { name: 'triedb-path', change: 'changed' },
      { name: 'keystore-password', change: 'changed' },
      { name: '(other words)', change: 'added' },
    ])
    expect(JSON.stringify(found)).not.toContain(CANARY)
  })
  test('are unknown if a file cannot be read, with the reason', async () => {
    expect(await readBft(host('/none.conf'))).toMatchObject({
      command: null,
      problem: '/none.conf cannot be read',
      differences: null,
    })
  })
  test.each([
    ['2000-01-01T00:00:00.000Z', [packaged]],
    ['2999-01-01T00:00:00.000Z', []],
  ])('files that changed since a start at %s', async (startedAt, changed) => {
    expect((await readBft(host('', startedAt)))?.changed).toEqual(changed)
  })
  test('so is the directory of local drop-ins', async () => {
    const local = join(directory, 'local', `${UNIT}.d`)
    await mkdir(local, { recursive: true })
    expect((await readBft(host('', '2000-01-01T00:00:00.000Z')))?.changed).toEqual([packaged, local])
  })
})

describe('findings', () => {
  const OVERRIDES = 'info: drop-in overrides a command'
  test('none for the package behind hidepid', async () => {
    expect(await findings(host())).toEqual([])
  })
  test('an open process list is information', async () => {
    expect(await findings({ ...host(), isProcessListPublic: true })).toEqual(['info: password in the process list'])
  })
  test('of consensus without a password there is nothing to hide', async () => {
    await writeFile(packaged, '[Service]\nExecStart=/bin/node --wal-chunks 8\n')
    expect(await findings({ ...host(), isProcessListPublic: true })).toEqual([])
  })
  test('a password in the unit is a warning', async () => {
    const path = await dropIn(`/bin/node --wal-chunks 8 --triedb-path /dev/triedb --keystore-password ${CANARY}`)
    const found = await nodeArguments.run(contextOf(host(path)))
    expect(found).toMatchObject([
      { name: 'drop-in overrides a command' },
      { severity: 'warning', summary: 'the unit of chain-bft has the keystore password itself, not a variable' },
    ])
    expect(JSON.stringify(found)).not.toContain(CANARY)
  })
  test.each(['${keystore_password}', '%d/pw'])('a password %s is not in the unit', async (password) => {
    const path = await dropIn(`/bin/node --keystore-password ${password}`)
    expect(await findings({ ...host(path), isProcessListPublic: true })).toEqual([
      OVERRIDES,
      'info: password in the process list',
    ])
  })
  test('a drop-in that cannot be read is information: it may override the command', async () => {
    expect(await nodeArguments.run(contextOf(host('/none.conf')))).toMatchObject([
      {
        severity: 'info',
        summary: 'this user may not read a drop-in of chain-bft',
        advice: ['See the arguments: `sudo chain-agent check`.'],
      },
    ])
  })
  test('an empty password is no secret', async () => {
    const path = await dropIn("/bin/node --keystore-password ''")
    expect(await findings({ ...host(path), isProcessListPublic: true })).toEqual([OVERRIDES])
  })
  test('a drop-in that changes arguments is one finding, of information, with the changes', async () => {
    const path = await dropIn(
      '/bin/node --wal-chunks 16 --triedb-path /dev/triedb --pprof "" --keystore-password "${PASS}"',
    )
    expect(await nodeArguments.run(contextOf(host(path)))).toMatchObject([
      {
        severity: 'info',
        summary: 'a drop-in overrides the command of chain-bft',
        evidence: [`${path} sets ExecStart (chain-bft).`, 'chain-bft: wal-chunks changed, pprof added.'],
      },
    ])
  })
  test('a unit file in the place of that of the package: its changes are information', async () => {
    const path = join(directory, 'replaced.service')
    await writeFile(path, PACKAGED.replace('8', '16'))
    const { tools, ...rest } = host()
    const shown = tools?.['systemctl show']?.replace(packaged, path) ?? ''
    const given = contextOf({ ...rest, tools: { 'systemctl show': shown } })
    expect(await nodeArguments.run(given)).toMatchObject([
      { name: 'changed arguments', severity: 'info', evidence: ['chain-bft: wal-chunks changed.'] },
    ])
  })
  test('another socket for transactions names the sidecar', async () => {
    const options = '--wal-chunks 8 --triedb-path /dev/triedb --keystore-password "${PASS}"'
    const path = await dropIn(`/bin/node ${options} --mempool-ipc-path /run/other-ipc/mempool.sock`)
    const [found] = await nodeArguments.run(contextOf(host(path)))
    expect(found).toMatchObject({
      severity: 'info',
      evidence: [
        `${path} sets ExecStart (chain-bft).`,
        'chain-bft: mempool-ipc-path added.',
        'Another socket for transactions is that of a sidecar, such as fastlane-sidecar: consensus and the RPC name the same one.',
      ],
    })
  })
  test.each([
    ['--nblocks 5', 'nblocks added', 'warning'],
    ['--no-compaction', 'no-compaction added', 'warning'],
    ['--nthreads 8', 'nthreads added', 'info'],
    ['', 'none', 'info'],
  ])('execution with %s: %s, %s', async (option, change, severity) => {
    const unit = 'chain-execution.service'
    await writeFile(join(directory, unit), '[Service]\nExecStart=/bin/node --db /dev/triedb\n')
    const path = await dropIn(`/bin/node --db /dev/triedb ${option}`)
    const shown = `Id=${unit}\nLoadState=loaded\nFragmentPath=${join(directory, unit)}\nDropInPaths=${path}`
    const found = await nodeArguments.run(contextOf({ tools: { 'systemctl show': shown } }))
    const changes = change === 'none' ? [] : [`chain-execution: ${change}.`]
    expect(found).toMatchObject([{ severity, evidence: [`${path} sets ExecStart (chain-execution).`, ...changes] }])
  })
  test('no units: nothing is claimed', async () => {
    expect(await findings({ isProcessListPublic: true })).toEqual([])
  })
})

test('status arguments: values and changes, without the password', async () => {
  const path = await dropIn(`/bin/node --wal-chunks 16 --keystore-password ${CANARY} --api-token ${CANARY}`)
  const services = await readUnitArguments(contextOf(host(path, '2000-01-01T00:00:00.000Z')))
  const page = { ...statusPage([], {}), sections: [argumentsSection(services)] }
  const lines = shownIn(page)
  for (const line of [
    'program +/bin/node',
    '--wal-chunks +16',
    '--keystore-password +\\(set\\)',
    '\\(other words\\) +2',
    'changes to the package +! wal-chunks changed, triedb-path removed, keystore-password changed, \\(other words\\) added',
    'systemd must reload +! yes',
  ])
    expect(lines).toMatch(new RegExp(`^  ${line}$`, 'm'))
  const document = statusDocument(page)
  expect(document.sections['arguments']).toMatchObject({
    bft: { program: '/bin/node', arguments: { '(other words)': { value: '2' } }, needsReload: true },
  })
  expect(lines + JSON.stringify(document)).not.toContain(CANARY)
})
