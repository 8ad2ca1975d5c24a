import { chmod, copyFile, link, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { sealKeystore } from '../../simulator/keystore/keystore-file.ts'
import { type Bench, createBench, PASSWORD, runKeys, secretOf } from './bench.ts'

const RESTORE = ['restore', '--type', 'secp', '--yes', '--while-running']

let bench: Bench
beforeEach(async () => {
  bench = await createBench({ isPlain: true })
})

/** Runs a script before, or instead of, the tool. */
const putTool = async (script: string): Promise<void> => {
  const tool = join(bench.folder, 'bin/chain-keystore')
  await rename(tool, `${tool}.real`)
  await writeFile(tool, `#!/bin/sh\n${script}\nexec ${tool}.real "$@"\n`, { mode: 0o755 })
}

/** Runs a command that exits with status 1. */
const runFailing = async (argv: readonly string[]): Promise<string> => {
  const { code, out, err } = await runKeys(bench, argv)
  expect(code, out + err).toBe(1)
  return out + err
}

const expectNoSecret = (text: string): void => {
  for (const secret of [PASSWORD, ...PASSWORD.split(' '), secretOf('secp'), secretOf('bls')]) {
    expect(text).not.toContain(secret)
  }
}

describe('a tool that prints its arguments and dies', () => {
  it.each(['SEGV', 'ABRT', 'KILL'])(
    'SIG%s: the error names the signal and contains no output of the tool',
    async (signal) => {
      await putTool(`echo "cannot use [$3] with [$5] $*" >&2; kill -${signal} $$; sleep 5`)
      const output = await runFailing(['backup', '--json'])
      expect(output).toContain(`killed by SIG${signal}`)
      expectNoSecret(output)
    },
  )
})

describe('two keys, one of which fails', () => {
  it('restore: nothing is replaced', async () => {
    await bench.putKeystore('secp', 'other')
    await putTool('[ "$1-$9" = import-bls ] && { echo "error: KDFError" >&2; exit 1; }')
    expect(await runFailing(['restore', '--yes', '--while-running'])).toContain('import for the bls key')
    expect(await bench.opens('secp')).toBe(secretOf('secp', 'other'))
  })

  it('backup: --json reports the completed key', async () => {
    await putTool('[ "$7" = bls ] && { echo "error: KDFError" >&2; exit 1; }')
    const { code, out } = await runKeys(bench, ['backup', '--json'])
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      done: [{ key: 'secp', file: bench.backup('secp') }],
      failed: [{ key: 'bls' }],
    })
  })
})

describe('another program in the directory', () => {
  it('a keystore that it has changed is not replaced', async () => {
    const keystore = bench.keystore('secp')
    await putTool(`[ "$1" = import ] && { echo precious > ${keystore}.new; mv ${keystore}.new ${keystore}; }`)
    expect(await runFailing(RESTORE)).toContain('has changed since it was read')
    expect(await readFile(keystore, 'utf8')).toBe('precious\n')
  })

  it('a temporary file whose content is not in the new backup of the password stays, and is reported', async () => {
    const left = join(bench.folder, 'backup/.keystore-password-backup.0123456789ab.new')
    await writeFile(left, 'an earlier password', { mode: 0o600 })
    const { code, out } = await runKeys(bench, ['backup', '--type', 'password', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ done: [{ removed: [], left: [left] }] })
    expect(await readFile(left, 'utf8')).toBe('an earlier password')
  })

  it('the existing backup is kept, not an earlier file with the same link', async () => {
    const [file, copy] = [bench.backup('secp'), `${bench.backup('secp')}.20200101000000.bak`]
    await link(file, copy)
    await writeFile(`${file}.new`, 'precious')
    await rename(`${file}.new`, file)
    await link(file, `${file}.elsewhere`)
    const { code, out } = await runKeys(bench, ['backup', '--type', 'secp', '--json'])
    expect(code).toBe(0)
    const [, kept = ''] = /"kept": "([^"]+)"/.exec(out) ?? []
    expect(await readFile(kept, 'utf8')).toBe('precious')
  })

  it('a backup that is a symbolic link is not followed and not ok', async () => {
    const file = bench.backup('secp')
    await rename(file, `${file}.elsewhere`)
    await symlink(`${file}.elsewhere`, file)
    expect((await runKeys(bench, ['backup', '--type', 'secp'])).err).toContain('it is a link')
    expect(await runFailing(['verify', '--type', 'secp'])).toContain('replace the link with the file itself')
  })
})

describe('files with unexpected content', () => {
  it.each([`Keystore secret: ${secretOf('secp')}`, `KEYSTORE_PASSWORD='${PASSWORD}'`])(
    '%s in the list of recipients: the error has its line number but not its text',
    async (line) => {
      const file = join(bench.folder, 'recipients')
      await writeFile(file, `# ours\n${line}\n`)
      const output = await runFailing(['export', '-R', file, '-o', bench.folder])
      expect(output).toContain(`the recipient in ${file}:2`)
      expectNoSecret(output)
    },
  )

  it('the backup of the other type is rejected by its public key', async () => {
    bench = await createBench()
    await runKeys(bench, ['backup'])
    const output = await runFailing([...RESTORE, '--from', bench.backup('bls')])
    expect(output).toContain('its public key does not have the length of a secp key')
  })

  it('an earlier backup that other users can read is not ok', async () => {
    const copy = `${bench.backup('secp')}.20200101000000.bak`
    await copyFile(bench.backup('secp'), copy)
    await chmod(copy, 0o644)
    expect(await runFailing(['verify', '--type', 'secp'])).toContain(`other users can read ${copy}`)
  })

  it('an invalid note is an error and is not overwritten', async () => {
    const note = join(bench.folder, 'backup/off-node.json')
    await writeFile(note, '{"version":2}')
    await runFailing(['off-node', 'safe'])
    expect(await readFile(note, 'utf8')).toBe('{"version":2}')
  })
})

it('backups that are recorded off this host and are not here are ok while the node has that key', async () => {
  bench = await createBench()
  await runKeys(bench, ['backup'])
  expect((await runKeys(bench, ['off-node', 'safe'])).code).toBe(0)
  for (const type of ['secp', 'bls'] as const) await rename(bench.backup(type), `${bench.folder}/${type}`)
  const away = await runKeys(bench, ['verify'])
  expect(away.code).toBe(0)
  expect(away.out).toContain('secp: the backup is off this host')
  await bench.putKeystore('secp', 'other')
  const out = await runFailing(['verify'])
  expect(out).toContain('secp: the backup is NOT ok')
  expect(out).toContain('bls: the backup is off this host')
  expect((await runKeys(bench, ['off-node', 'safe'])).err).toContain('while the backup is still on this host')
})

it('a backup of another secret without a public key is not ok', async () => {
  await bench.putKeystore('secp', 'other')
  expect(await runFailing(['verify', '--type', 'secp'])).toContain('ANOTHER key than in')
})

describe('a keystore of version 1', () => {
  beforeEach(async () => {
    bench = await createBench()
    const secret = Buffer.from(secretOf('secp'), 'hex')
    await writeFile(bench.keystore('secp'), sealKeystore({ secret, version: 1, password: PASSWORD }))
    await runKeys(bench, ['backup', '--type', 'secp'])
  })

  it('its backup is not ok: import would derive another key from it', async () => {
    expect(await runFailing(['verify', '--type', 'secp'])).toContain('a keystore of version 1')
  })

  it('is not restored, whether the version is in the backup or only in the existing keystore', async () => {
    const before = await readFile(bench.keystore('secp'))
    expect((await runKeys(bench, RESTORE)).err).toContain('import would derive another key')
    await writeFile(bench.backup('secp'), `Keystore secret: ${secretOf('secp')}\n`)
    expect((await runKeys(bench, RESTORE)).err).toContain('import would derive another key')
    expect(await readFile(bench.keystore('secp'))).toStrictEqual(before)
  })
})

describe('directories', () => {
  const directory = (): string => join(bench.folder, 'backup')

  it('a backup directory in which every user can remove files is reported, and the backup is not ok', async () => {
    await chmod(directory(), 0o777)
    const reported = `every user may write to ${directory()} (mode 0777) and can remove or replace files in it`
    const { code, out } = await runKeys(bench, ['backup', '--type', 'secp', '--json'])
    expect([code, JSON.parse(out)]).toMatchObject([0, { done: [{ folderRisk: reported }] }])
    expect((await runFailing(['verify', '--type', 'secp'])).replaceAll(/\s+/g, ' ')).toContain(reported)
    await chmod(directory(), 0o1777)
    expect((await runKeys(bench, ['verify', '--type', 'secp'])).code).toBe(0)
  })

  it('a link that other users can replace is not followed', async () => {
    await rename(directory(), `${directory()}.elsewhere`)
    await symlink(`${directory()}.elsewhere`, directory())
    const followed = await runKeys(bench, ['backup', '--type', 'secp', '--json'])
    expect(JSON.parse(followed.out)).toMatchObject({
      done: [{ linkedTo: `${directory()}.elsewhere`, folderRisk: null }],
    })
    const before = await bench.look()
    await chmod(bench.folder, 0o777)
    const output = await runFailing(['backup', '--type', 'secp'])
    expect(output).toContain('its path contains a symbolic link, and every user may')
    expect(await bench.look()).toEqual(before)
  })

  it('a directory that is replaced with a link while the tool runs gets no key', async () => {
    const other = join(bench.folder, 'other')
    await mkdir(other)
    await putTool(`mv ${directory()} ${directory()}.moved; ln -s ${other} ${directory()}`)
    const output = await runFailing(['backup', '--type', 'secp'])
    expect(output).toMatch(/another process has replaced the directory meanwhile\n.*what to do: /s)
    expect(await readdir(other)).toEqual([])
  })

  it('a missing backup directory is created with mode 700, its parents with 755', async () => {
    const folder = join(bench.folder, 'opt/chain/backup')
    const config = { ...bench.config.node, backupDirectory: folder }
    const moved = { ...bench, config: { ...bench.config, node: config } }
    expect((await runKeys(moved, ['backup'])).code).toBe(0)
    const modes = await moved.modes('opt', 'opt/chain', 'opt/chain/backup')
    expect(modes).toStrictEqual(['755', '755', '700'])
  })

  it('if only earlier backups exist, the error names the newest', async () => {
    const file = bench.backup('secp')
    await rename(file, `${file}.20200101000000.bak`)
    expect((await runKeys(bench, RESTORE)).err).toContain(`--from ${file}.20200101000000.bak`)
    await mkdir(join(bench.folder, 'empty'))
    const { err } = await runKeys(bench, [...RESTORE, '--from', join(bench.folder, 'empty')])
    expect(err).toContain('pass the file or its directory with --from')
  })
})
