import { readFile, rm, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { KEYSTORE_VERSIONS } from '../support/keystore-tool.ts'
import { type Bench, createBench, KEY_TYPES, type KeyType, runKeys, secretOf, temporaryFilesIn } from './bench.ts'

const COMMANDS = { backup: ['backup'], restore: ['restore', '--yes', '--while-running'], verify: ['verify'] } as const
type Command = keyof typeof COMMANDS

const run = async (command: Command, type: KeyType, on: Bench) => runKeys(on, [...COMMANDS[command], '--type', type])

/** Before v0.12 the tool does not print the secret, from which a keystore can be restored. */
const isOld = (version: string): boolean => /^0\.1[01]\./.test(version)

const VERSIONS_AND_TYPES = KEYSTORE_VERSIONS.flatMap((version) => KEY_TYPES.map((type) => ({ version, type })))

it.each(VERSIONS_AND_TYPES.filter(({ version }) => !isOld(version)))(
  'v$version, $type: backup, verify, restore after the loss of the keystore',
  async ({ version, type }) => {
    const bench = await createBench({ version })
    const older = await readFile(bench.backup(type), 'utf8')
    const backedUp = await run('backup', type, bench)
    expect(backedUp, backedUp.err).toMatchObject({ code: 0 })
    expect(backedUp.out).toContain(bench.backup(type))
    const files = await bench.look()
    const { mode, content } = files[`backup/${type}-backup`] ?? {}
    expect(mode).toBe('600')
    expect(content?.split('\n')).toContain(`Keystore secret: ${secretOf(type)}`)
    const [kept = 'none'] = Object.keys(files).filter((name) => name.endsWith('.bak'))
    expect(files[kept]).toEqual({ mode: '600', content: older })

    const verified = await run('verify', type, bench)
    expect(verified.code, verified.out + verified.err).toBe(0)
    expect(verified.out).toContain(`the same key as in ${bench.keystore(type)}`)
    await rm(bench.keystore(type))
    const restored = await run('restore', type, bench)
    expect(restored, restored.err).toMatchObject({ code: 0 })
    expect(await bench.opens(type)).toBe(secretOf(type))
    expect((await bench.look())[`node/config/id-${type}`]?.mode).toBe('600')
    expect(backedUp.out + verified.out + restored.out).not.toContain(secretOf(type))
  },
)

interface Trouble {
  readonly name: string
  readonly make: (at: Bench, type: KeyType) => Promise<void>
  /** The error of each command; null if the fault does not affect it. */
  readonly says: Readonly<Record<'backup' | 'restore', RegExp | null>>
  /** `verify` reports what it could not compare. */
  readonly unknown: RegExp
}

const ANY = [
  {
    name: 'wrong password',
    make: async ({ environmentFile }) => writeFile(environmentFile, 'KEYSTORE_PASSWORD=wrong\n'),
    says: { backup: /the password does not open the keystore.*KEYSTORE_PASSWORD/s, restore: null },
    unknown: /the password does not open the keystore/,
  },
  {
    name: 'keystore missing',
    make: async ({ keystore }, type) => rm(keystore(type)),
    says: { backup: /there is no such keystore.*what to do: .*node\.directory/s, restore: null },
    unknown: /there is no such keystore/,
  },
] as const satisfies readonly Trouble[]

/** A failed command prints what failed, why, and what to do, and changes nothing. */
const expectRefused = async (
  { command, type }: { readonly command: Command; readonly type: KeyType },
  says: RegExp,
  on: Bench,
): Promise<void> => {
  const before = await on.look()
  const { code, out, err } = await run(command, type, on)
  expect(code, err).toBe(1)
  expect(err).toMatch(says)
  expect(err).toMatch(/Could not [^\n]+: [^\n]+\n/)
  // The error for a tool whose output never ends has no advice.
  if (!err.includes('printed more')) expect(err).toMatch(/\n {2}what to do: /)
  for (const whose of ['own', 'other'] as const) {
    expect(out + err).not.toContain(secretOf(type, whose))
  }
  const after = await on.look()
  expect(after).toEqual(before)
  expect(temporaryFilesIn(after)).toEqual([])
}

it.each(VERSIONS_AND_TYPES.flatMap((row) => ANY.map((trouble) => ({ ...row, trouble, of: trouble.name }))))(
  'v$version, $type, $of: no backup is written, the existing one stays',
  async ({ version, type, trouble }) => {
    const bench = await createBench({ version })
    await trouble.make(bench, type)
    await expectRefused({ command: 'backup', type }, trouble.says.backup, bench)
    const before = await bench.look()
    const verified = await run('verify', type, bench)
    expect(verified.code, verified.out).toBe(1)
    expect(verified.out + verified.err).toMatch(trouble.unknown)
    expect(await bench.look()).toEqual(before)
  },
)

it.each(VERSIONS_AND_TYPES.filter(({ version }) => isOld(version)))(
  'v$version, $type: the tool does not print the secret: nothing is changed, and the error has the reason',
  async ({ version, type }) => {
    const bench = await createBench({ version })
    const says = /v0\.1[01].*the private key, not the secret.*what to do: .*v0\.12/s
    await expectRefused({ command: 'backup', type }, says, bench)
    await bench.putKeystore(type, 'other')
    await expectRefused({ command: 'restore', type }, /what to do: /, bench)
  },
)

const NOT_SECRET = /(?:the secret is not 64 hex digits)/
const BEHAVIOURS = [
  { behaviour: 'mad', backup: /printed more than/, restore: /printed more than/ },
  { behaviour: 'exits-0-with-nothing', backup: /empty|printed nothing/, restore: /has written no keystore/ },
  { behaviour: 'short-secret', backup: NOT_SECRET, restore: NOT_SECRET },
  { behaviour: 'two-secrets', backup: /several different secrets/, restore: /several different secrets/ },
  { behaviour: 'other-secret', backup: null, restore: /contains another secret/ },
  { behaviour: 'disk-full', backup: null, restore: /the disk is full|could not be written/ },
  { behaviour: 'no-newline', backup: null, restore: null },
] as const

it.each(
  BEHAVIOURS.flatMap((row) =>
    KEY_TYPES.flatMap((type) => (['backup', 'restore'] as const).map((command) => ({ ...row, type, command }))),
  ),
)('a tool that is $behaviour, $command of $type', async ({ behaviour, type, command, ...says }) => {
  const bench = await createBench({ behaviour })
  if (command === 'restore') await bench.putKeystore(type, 'other')
  const expected = says[command]
  if (expected === null) {
    const { code, err } = await run(command, type, bench)
    expect(code, err).toBe(0)
    expect(await bench.opens(type)).toBe(secretOf(type))
    expect(temporaryFilesIn(await bench.look())).toEqual([])
  } else await expectRefused({ command, type }, expected, bench)
})
