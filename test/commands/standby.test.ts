import { chmod, cp, mkdtemp, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { temporaryFolder } from '../support/directory.ts'
import { freePort } from '../support/free-port.ts'
import { type Host, openHost, sharedHost } from '../support/host.ts'
import { listening } from '../support/http.ts'
import { blocksOf } from '../support/shell-blocks.ts'
import { testUsageErrors } from '../support/usage-errors.ts'

const reportSchema = z.object({
  isReady: z.boolean().nullable(),
  summary: z.string(),
  checks: z.array(z.object({ name: z.string(), state: z.enum(['ok', 'no', 'unknown']), summary: z.string() })),
  exitCode: z.number(),
})

const folder = await temporaryFolder()

/** The backups of the primary, as they were copied to the second host. */
const copyBackups = async (primary: Host): Promise<string> => {
  const directory = await mkdtemp(join(folder, 'backups-'))
  await cp(join(primary.directory, 'backup'), directory, { recursive: true, preserveTimestamps: true })
  return directory
}

const HEALTHY = '0s package was 0.16.1'

const openStandby = async (scenario = HEALTHY, options: { readonly identity?: number } = {}) =>
  openHost({ scenario, second: 90, identity: 1, ...options })

const reportOf = async (standby: Host, argv: readonly string[]) => {
  const { code, out, err } = await standby.run(['standby', 'check', '--json', ...argv])
  expect(err).toBe('')
  // No secret of a backup.
  expect(out).not.toMatch(/\b[0-9a-f]{64}\b/)
  const { checks, isReady, exitCode } = reportSchema.parse(JSON.parse(out))
  expect(exitCode).toBe(code)
  const withState = (wanted: string) =>
    Object.fromEntries(checks.filter(({ state }) => state === wanted).map(({ name, summary: why }) => [name, why]))
  return { code, isReady, no: withState('no'), unknown: withState('unknown'), ok: withState('ok') }
}

describe('the second host of a validator', async () => {
  const primary = await sharedHost({ scenario: 'healthy', second: 90 })
  const url = `http://127.0.0.1:${primary.port}`

  const check = async (standby: Host) => reportOf(standby, ['--primary', url, '--from', await copyBackups(primary)])

  test('is ready: in sync, same version, the keys present and not in use', async () => {
    const { code, isReady, no, unknown, ok } = await check(await openStandby())
    expect({ code, isReady, no }).toEqual({ code: 0, isReady: true, no: {} })
    // Neither prevents a takeover: only a restart measures a start, and Prometheus may send the alerts.
    expect(Object.keys(unknown)).toEqual(['blocksync', 'receiver'])
    expect(ok).toMatchObject({
      keys: 'the backups are intact, and secp is that of the primary',
      version: '0.16.1, as on the primary',
      forks: 'ready for first-light and aurora',
      // The simulated clock is 0.2 ms off.
      clock: 'synchronised, 0.2 ms off',
    })
    expect(ok['primary']).toMatch(/^its agent answers: healthy, with the key 0[23][0-9a-f]{8}…$/)
  })

  test.each([
    ['0s node behind 120', 'sync', /block.* (?:behind|old)$/],
    ['0s package was 0.16.0', 'version', /^0\.16\.0 here, 0\.16\.1 on the primary$/],
    [
      '0s package was 0.16.0\n0s package upgraded 0.16.1',
      'version',
      /^0\.16\.1 is installed, and another version still runs$/,
    ],
    ['0s storage used 100', 'disk', /./],
    // Also before the alert fires.
    ['0s host clock 600ms', 'clock', /^the clock of the host is wrong$/],
  ])('is not ready with %j: %s', async (scenario, name, why) => {
    const { code, no } = await check(await openStandby(scenario))
    expect(code).toBe(1)
    expect(no[name]).toMatch(why)
  })

  test('is not ready if a key is missing, exposed, empty or of another node', async () => {
    const standby = await openStandby()
    const directory = await copyBackups(primary)
    const keysOf = async () => (await reportOf(standby, ['--primary', url, '--from', directory])).no['keys']
    await chmod(join(directory, 'secp-backup'), 0o644)
    expect(await keysOf()).toBe('secp: mode 0644')
    await writeFile(join(directory, 'secp-backup'), '')
    await chmod(join(directory, 'secp-backup'), 0o600)
    expect(await keysOf()).toBe('secp: empty')
    await rm(join(directory, 'secp-backup'))
    expect(await keysOf()).toBe('secp: missing')
    // Without --from, the backups of its own keys.
    const { code, no } = await reportOf(standby, ['--primary', url])
    expect(code).toBe(1)
    expect(no['keys']).toMatch(/^the secp backup is of 0\w{9}…, and the primary has 0\w{9}…$/)
  })

  test('is not ready if a backup is there as an encrypted copy only', async () => {
    const directory = await copyBackups(primary)
    await rename(join(directory, 'bls-backup'), join(directory, 'bls-backup.age'))
    const { code, no } = await reportOf(await openStandby(), ['--primary', url, '--from', directory])
    expect({ code, no }).toEqual({ code: 1, no: { keys: 'bls: missing' } })
  })

  test('is not ready if its node already runs with the key of the primary', async () => {
    const { code, no } = await check(await openStandby(HEALTHY, { identity: 0 }))
    expect(code).toBe(1)
    expect(Object.keys(no)).toEqual(['key in use'])
    expect(no['key in use']).toMatch(
      /^this node already has the key of the primary, 0\w{9}…: two nodes with one key are penalised$/,
    )
  })

  test('is not ready if the next start would use a keystore that was written since', async () => {
    const standby = await openStandby()
    const written = standby.now() / 1000
    await utimes(join(standby.directory, 'home/chain/chain-bft/config/id-secp'), written, written)
    const { code, no } = await check(standby)
    expect({ code, no }).toEqual({
      code: 1,
      no: {
        'key in use': 'the secp keystore was written after the start of consensus: its next start may use another key',
      },
    })
  })

  test('is unknown if the primary does not answer, is not an agent, or has no address', async () => {
    const standby = await openStandby()
    const from = ['--from', await copyBackups(primary)]
    const closed = await reportOf(standby, ['--primary', `http://127.0.0.1:${await freePort()}`, ...from])
    expect(closed).toMatchObject({ code: 2, isReady: null, no: {} })
    expect(closed.unknown['primary']).toBe('no agent answers at its address')
    expect(closed.unknown['version']).toBe('0.16.1 here; that of the primary is unknown')
    // The backup still shows the key that must not be in use.
    expect(closed.ok).toHaveProperty('key in use')
    const server = createServer((_, response) => response.writeHead(401).end())
    const other = await listening(server)
    onTestFinished(other.close)
    const file = join(folder, 'url')
    await writeFile(file, `${other.url.replace('://', '://user:hunter2@')}\n`, { mode: 0o600 })
    const refused = await reportOf(standby, ['--primary', file, ...from])
    expect(refused.code).toBe(2)
    expect(refused.unknown['primary']).toMatch(/HTTP status 401 for \/api\/v1\/status$/)
    expect(JSON.stringify(refused)).not.toContain('hunter2')
    const none = await reportOf(standby, from)
    expect(none.unknown['primary']).toBe('no address of its agent (--primary)')
  })

  test('is not ready without an agent of its own', async () => {
    const standby = await openHost({ scenario: HEALTHY, second: 90, identity: 1, agent: false })
    const { code, no } = await check(standby)
    expect(code).toBe(1)
    expect(no['monitoring']).toBe('no agent runs on this host')
  })
})

testUsageErrors(
  ['standby', 'check'],
  [
    [['--primary', 'http://'], '--primary: expected an http or https address'],
    [['--primary', 'http://user:word@127.0.0.1:1'], 'one with a password in a file, by the path of the file'],
    [['--profile', 'watcher'], 'This host is a watcher'],
  ],
)

/** The commands of the page, each with the number of the block. */
const pageCommands = (): readonly string[] =>
  blocksOf('docs/how-to/standby.md').flatMap(({ text }) =>
    text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.replace(/ +#.*$/, '')])),
  )

/** The arguments of the only command of the page that begins so. */
const stepOf = (begin: string, replaced: Readonly<Record<string, string>>): readonly string[] => {
  const [command = '', ...others] = pageCommands().filter((line) => line.replace(/^sudo /, '').startsWith(begin))
  expect(others, begin).toEqual([])
  const text = Object.entries(replaced).reduce((line, [from, to]) => line.replaceAll(from, to), command)
  return text
    .replace(/^sudo /, '')
    .split(' ')
    .slice(1)
}

test('the drill: fence first, and each command of the page in its order', async () => {
  const commands = pageCommands()
  const order = [
    'chain-agent standby check --primary /etc',
    'chain-agent keys restore --dry-run',
    'chain-agent maintenance start',
    'systemctl mask --now chain-bft',
    'mv /home/monad/monad-bft/config/id-secp',
    'systemctl is-active chain-bft',
    'systemctl is-enabled chain-bft',
    'systemctl stop chain-bft chain-execution chain-rpc',
    'chain-agent keys restore --replace-identity',
    'systemctl start chain-bft chain-execution chain-rpc',
    'chain-agent duties',
  ]
  const places = order.map((begin) => commands.findIndex((line) => line.replace(/^sudo /, '').startsWith(begin)))
  expect(places).not.toContain(-1)
  expect(places).toEqual(places.toSorted((a, b) => a - b))

  // Consensus of both hosts stops as at steps 4 and 6, and that of the second one starts again, while the clock is moved.
  const primary = await openHost({ scenario: '200s bft stops', second: 90 })
  const standby = await openStandby('200s bft stops\n400s bft starts')
  const publicKey = /secp_public_key="(\w+)"/.exec(await primary.page('/metrics'))?.[1] ?? ''
  const replaced = {
    '/etc/chain-agent/primary-url': `http://127.0.0.1:${primary.port}`,
    '/root/validator': await copyBackups(primary),
    'PUBLIC-KEY': publicKey,
  }
  const runStep = async (host: Host, begin: string, ...more: readonly string[]) =>
    host.run([...stepOf(begin, replaced), ...more])
  const check = 'chain-agent standby check --primary /etc'
  const restore = 'chain-agent keys restore --replace-identity'
  const keystore = join(standby.directory, 'home/chain/chain-bft/config/id-secp')
  const before = await readFile(keystore, 'utf8')

  expect((await runStep(standby, check)).code).toBe(0)
  const planned = await runStep(standby, 'chain-agent keys restore --dry-run')
  expect(planned.code).toBe(0)
  expect(planned.out).toContain(publicKey)
  expect((await runStep(primary, 'chain-agent maintenance start')).code).toBe(0)
  // A step too early: consensus of the second host still runs.
  expect((await runStep(standby, restore, '--yes')).code).toBe(1)
  expect(await readFile(keystore, 'utf8')).toBe(before)

  await primary.pass(120)
  expect(await primary.page('/metrics')).toContain('chain_service_active{service="bft"} 0\n')
  await standby.pass(120)
  const restored = await runStep(standby, restore, '--yes')
  expect(restored.code).toBe(0)
  expect(restored.out).toContain(publicKey)
  expect(await readFile(keystore, 'utf8')).not.toBe(before)

  // The report of the node is from before its start: whether it has the key in use is unknown.
  await standby.pass(398 - standby.elapsed() / 1000)
  await standby.pass(3)
  const { out } = await runStep(standby, check)
  expect(out).toMatch(
    /^ {2}key in use {2}\? unknown: consensus was started after the last status report: repeat the check in five minutes$/m,
  )
})
