import { chmod, chown, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { run } from '../support/programs.ts'
import { type Probe, requireRealPart } from '../support/real-parts.ts'
import { type Bench, createBench, KEY_TYPES, MAIN, RECIPIENT, runKeys, secretOf, temporaryFilesIn } from './bench.ts'

const UNPRIVILEGED = ['--reuid=65534', '--regid=65534', '--clear-groups']

const probe = async (): Promise<Probe> => {
  try {
    const bare = await run('setpriv', [...UNPRIVILEGED, process.execPath, MAIN, '-V'])
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

const COMMANDS = [
  { command: 'backup', argv: ['backup'] },
  { command: 'restore', argv: ['restore', '--yes', '--while-running'] },
  { command: 'export', argv: ['export', '--recipient', RECIPIENT] },
] as const

const runUnprivileged = (argv: readonly string[]) =>
  run('setpriv', [...UNPRIVILEGED, ...bench.commandLine(argv)], { env: bench.env, extendEnv: false })

const expectError = (stderr: string, why: RegExp): void => {
  expect(stderr).toMatch(why)
  expect(stderr).toMatch(/Could not [^\n]+: [^\n]+\n(?: {2}output: [^\n]*\n)? {2}what to do: /)
  for (const type of KEY_TYPES) expect(stderr).not.toContain(secretOf(type))
}

describe('another user', () => {
  it('that owns the backup directory or a parent of it is reported, and the backup is not ok', async () => {
    await runKeys(bench, ['backup', '--type', 'secp'])
    for (const changed of [join(bench.folder, 'backup'), bench.folder]) {
      await chown(changed, 60_123, 60_123)
      const { code, out } = await runKeys(bench, ['verify', '--type', 'secp', '--json'])
      const folderRisk = `the user 60123 owns ${changed} and can remove or replace files in it`
      expect([code, JSON.parse(out)]).toMatchObject([1, [{ folderRisk, exposure: null, problem: null }]])
      await chown(changed, 0, 0)
    }
  })

  it.each(COMMANDS)('$command: fails with the reason, and changes nothing', async ({ argv }) => {
    await chmod(bench.folder, 0o755)
    const before = await bench.look()
    const { code, stdout, stderr } = await runUnprivileged(argv)
    expect(code, stdout + stderr).toBe(1)
    expectError(stderr, /this user may not/)
    expect(await bench.look()).toEqual(before)
  })

  it('can read the password but not open the keystore: the command fails', async () => {
    await chmod(bench.folder, 0o755)
    await chmod(bench.environmentFile, 0o644)
    await chmod(join(bench.folder, 'backup'), 0o777)
    const before = await bench.look()
    const { code, stderr } = await runUnprivileged(['backup'])
    expect(code).toBe(1)
    expectError(stderr, /this user may not read or write the keystore/)
    expect(await bench.look()).toEqual(before)
  })
})

/**
 * Runs the command in a mount namespace: a tmpfs of 256 KiB with the files of the folder is mounted over it, and all
 * but `free` of its pages are used. Afterwards its files are copied out.
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
  const words = ['-m', 'sh', '-c', script, 'sh', ...bench.commandLine(argv)]
  const ended = await run('unshare', words, { env: bench.env, extendEnv: false })
  return { ...ended, after }
}

describe('a full disk', () => {
  it.each([0, 1])('backup with %d pages free: the existing backups stay', async (free) => {
    const before = await Promise.all(KEY_TYPES.map(async (type) => readFile(bench.backup(type), 'utf8')))
    const { code, stdout, stderr, after } = await onFullDisk('backup', free, ['backup'])
    expect(code, stdout + stderr).toBe(1)
    expectError(stderr, /the disk is full.*what to do: free space/s)
    const left = await Promise.all(KEY_TYPES.map(async (type) => readFile(join(after, `${type}-backup`), 'utf8')))
    // With one page, there is space for the first of the two.
    expect(left.at(-1)).toBe(before.at(-1))
    expect(left[0]).toContain(secretOf('secp'))
    const { stdout: names } = await run('ls', ['-A', after])
    expect(names.split('\n').filter((name) => name.startsWith('.'))).toEqual([])
  })

  it('restore: the existing keystores stay and can be opened', async () => {
    for (const type of KEY_TYPES) await bench.putKeystore(type, 'other')
    const before = await bench.look()
    const { code, stdout, stderr, after } = await onFullDisk('node/config', 0, ['restore', '--yes', '--while-running'])
    expect(code, stdout + stderr).toBe(1)
    expectError(stderr, /the disk is full.*what to do: free space/s)
    for (const type of KEY_TYPES) {
      const left = await readFile(join(after, `id-${type}`), 'utf8')
      expect(left).toBe(before[`node/config/id-${type}`]?.content)
    }
    const { stdout: names } = await run('ls', ['-A', after])
    expect(names.split('\n').toSorted()).toEqual(['id-bls', 'id-secp'])
  })

  it('export: leaves no incomplete file', async () => {
    const argv = ['export', '--recipient', RECIPIENT, '--output-directory', join(bench.folder, 'backup')]
    const { code, stdout, stderr, after } = await onFullDisk('backup', 0, argv)
    expect(code, stdout + stderr).toBe(1)
    expectError(stderr, /the disk is full/)
    const { stdout: names } = await run('ls', ['-A', after])
    expect(names.split('\n').toSorted()).toEqual(['bls-backup', 'secp-backup'])
    expect(temporaryFilesIn(await bench.look())).toEqual([])
  })
})

it('export does not overwrite an existing file', async () => {
  const folder = join(bench.folder, 'elsewhere')
  await mkdir(folder)
  await writeFile(join(folder, 'secp-backup.age'), 'mine')
  const to = ['--output-directory', folder, '--recipient', RECIPIENT]
  const { code, stderr } = await bench.keys('export', '--type=secp', ...to)
  expect(code).toBe(1)
  expect(stderr).toContain('files are not overwritten')
  expect(await readFile(join(folder, 'secp-backup.age'), 'utf8')).toBe('mine')
})
