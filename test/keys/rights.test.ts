import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { run } from '../support/programs.ts'
import { type Probe, requireRealPart } from '../support/real-parts.ts'
import { type Bench, createBench, KEY_TYPES, MAIN, secretOf, underWay } from './bench.ts'

const NOBODY = ['--reuid=65534', '--regid=65534', '--clear-groups']

const probe = async (): Promise<Probe> => {
  try {
    const bare = await run('setpriv', [...NOBODY, process.execPath, MAIN, '-V'])
    const own = await run('unshare', ['-m', 'true'])
    const said = `${bare.stderr}${own.stderr}`.trim()
    return bare.code + own.code === 0 ? { version: '' } : { missing: said }
  } catch (error) {
    return { missing: String(error) }
  }
}

const describe = await requireRealPart('other users and disks', probe)

let bench: Bench
beforeEach(async () => {
  bench = await createBench()
})
afterEach(async () => {
  await bench.remove()
})

const RECIPIENT = 'age1hxz8d80jxyt9z8uqhue54n7c43a6ca2ufgpg9ww63ymv72m3py4schrd9a'

const COMMANDS = [
  { command: 'backup', argv: ['backup'] },
  { command: 'restore', argv: ['restore', '--yes', '--while-running'] },
  { command: 'export', argv: ['export', '--recipient', RECIPIENT] },
] as const

const argvOf = (argv: readonly string[]): readonly string[] => [
  process.execPath,
  MAIN,
  'keys',
  ...argv,
  '--config',
  join(bench.folder, 'config.yaml'),
]

const expectSaid = (stderr: string, why: RegExp): void => {
  expect(stderr).toMatch(why)
  expect(stderr).toMatch(/Could not [^\n]+: [^\n]+\n(?: {2}output: [^\n]*\n)? {2}what to do: /)
  for (const type of KEY_TYPES) expect(stderr).not.toContain(secretOf(type))
}

describe('another user', () => {
  it.each(COMMANDS)('$command: is told so, and nothing is changed', async ({ argv }) => {
    await chmod(bench.folder, 0o755)
    const before = await bench.look()
    const { code, stdout, stderr } = await run('setpriv', [...NOBODY, ...argvOf(argv)], {
      env: bench.env,
      extendEnv: false,
    })
    expect(code, stdout + stderr).toBe(1)
    expectSaid(stderr, /this user may not/)
    expect(await bench.look()).toEqual(before)
  })

  it('can read the password, and may not open the keystore: the same', async () => {
    await chmod(bench.folder, 0o755)
    await chmod(bench.environmentFile, 0o644)
    await chmod(join(bench.folder, 'backup'), 0o777)
    const before = await bench.look()
    const { code, stderr } = await run('setpriv', [...NOBODY, ...argvOf(['backup'])], {
      env: bench.env,
      extendEnv: false,
    })
    expect(code).toBe(1)
    expectSaid(stderr, /this user may not read or write the keystore/)
    expect(await bench.look()).toEqual(before)
  })
})

/**
 * The command in mounts of its own: over the folder lies a disk of so many bytes, with the folder's files on
 * it, and all but `free` of its pages taken. Afterwards what lies there is brought out again.
 */
const onFullDisk = async (folder: string, free: number, argv: readonly string[]) => {
  const [inside, after] = [join(bench.folder, folder), join(bench.folder, 'after')]
  await mkdir(after)
  const script = `set -e
cp -a ${inside}/. ${after}/
mount -t tmpfs -o size=256k,mode=700 none ${inside}
cp -a ${after}/. ${inside}/
rm -rf ${after}
head -c $(( $(stat -f -c '%a * %S' ${inside}) - ${free} * 4096 )) /dev/zero > ${inside}/ballast
set +e
"$@"
code=$?
rm ${inside}/ballast
cp -a ${inside} ${after}
exit $code`
  const ended = await run('unshare', ['-m', 'sh', '-c', script, 'sh', ...argvOf(argv)], {
    env: bench.env,
    extendEnv: false,
  })
  return { ...ended, after }
}

describe('a disk without room', () => {
  it.each([0, 1])('backup with %d pages free: the old ones stay', async (free) => {
    const before = await Promise.all(
      KEY_TYPES.map(async (type) => readFile(bench.backup(type), 'utf8')),
    )
    const { code, stdout, stderr, after } = await onFullDisk('backup', free, ['backup'])
    expect(code, stdout + stderr).toBe(1)
    expectSaid(stderr, /the disk is full.*what to do: make room/s)
    const left = await Promise.all(
      KEY_TYPES.map(async (type) => readFile(join(after, `${type}-backup`), 'utf8')),
    )
    // With one page, the first of the two finds room.
    expect(left.at(-1)).toBe(before.at(-1))
    expect(left[0]).toContain(secretOf('secp'))
    const { stdout: names } = await run('ls', ['-A', after])
    expect(names.split('\n').filter((name) => name.startsWith('.'))).toEqual([])
  })

  it('restore: the keystores stay, and open', async () => {
    for (const type of KEY_TYPES) await bench.putKeystore(type, 'other')
    const before = await bench.look()
    const { code, stdout, stderr, after } = await onFullDisk('node/config', 0, [
      'restore',
      '--yes',
      '--while-running',
    ])
    expect(code, stdout + stderr).toBe(1)
    expectSaid(stderr, /the disk is full.*what to do: make room/s)
    for (const type of KEY_TYPES) {
      const left = await readFile(join(after, `id-${type}`), 'utf8')
      expect(left).toBe(before[`node/config/id-${type}`]?.content)
    }
    const { stdout: names } = await run('ls', ['-A', after])
    expect(names.split('\n').toSorted()).toEqual(['id-bls', 'id-secp'])
  })

  it('export: nothing half written is left', async () => {
    const { code, stdout, stderr, after } = await onFullDisk('backup', 0, [
      'export',
      '--recipient',
      RECIPIENT,
      '--output-directory',
      join(bench.folder, 'backup'),
    ])
    expect(code, stdout + stderr).toBe(1)
    expectSaid(stderr, /the disk is full/)
    const { stdout: names } = await run('ls', ['-A', after])
    expect(names.split('\n').toSorted()).toEqual(['bls-backup', 'secp-backup'])
    expect(underWay(await bench.look())).toEqual([])
  })
})

it('a copy that is there is not overwritten, and it is said', async () => {
  await mkdir(join(bench.folder, 'elsewhere'))
  await writeFile(join(bench.folder, 'elsewhere/secp-backup.age'), 'mine')
  const { code, stderr } = await bench.keys(
    'export',
    '--type=secp',
    '--output-directory',
    join(bench.folder, 'elsewhere'),
    '--recipient',
    RECIPIENT,
  )
  expect(code).toBe(1)
  expect(stderr).toContain('none is overwritten')
  expect(await readFile(join(bench.folder, 'elsewhere/secp-backup.age'), 'utf8')).toBe('mine')
})
