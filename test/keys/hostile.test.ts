import {
  chmod,
  copyFile,
  link,
  mkdir,
  readFile,
  rename,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sealKeystore } from '../../src/simulator/keystore/keystore-file.ts'
import { type Bench, createBench, PASSWORD, secretOf } from './bench.ts'
import { keysHere } from './here.ts'

const RESTORE = ['restore', '--type', 'secp', '--yes', '--while-running']

let bench: Bench
beforeEach(async () => {
  bench = await createBench({ isPlain: true })
})
afterEach(async () => {
  await bench.remove()
})

/** Does something before the tool does its work, or in its place. */
const putTool = async (script: string): Promise<void> => {
  const tool = join(bench.folder, 'bin/chain-keystore')
  await rename(tool, `${tool}.real`)
  await writeFile(tool, `#!/bin/sh\n${script}\nexec ${tool}.real "$@"\n`, { mode: 0o755 })
}

const expectNoSecret = (text: string): void => {
  for (const secret of [PASSWORD, ...PASSWORD.split(' '), secretOf('secp'), secretOf('bls')]) {
    expect(text).not.toContain(secret)
  }
}

describe('a tool that dies with its arguments on its lips', () => {
  it.each(['SEGV', 'ABRT', 'KILL'])(
    'SIG%s: who died is told, and no word of it',
    async (signal) => {
      await putTool(`echo "cannot use [$3] with [$5] $*" >&2; kill -${signal} $$; sleep 5`)
      const { code, out, err } = await keysHere(bench, ['backup', '--json'])
      expect(code).toBe(1)
      expect(out).toContain(`killed by SIG${signal}`)
      expectNoSecret(out + err)
    },
  )
})

describe('two keys, and one of them fails', () => {
  it('restore: nothing at all is replaced', async () => {
    await bench.putKeystore('secp', 'other')
    await putTool('[ "$1-$9" = import-bls ] && { echo "error: KDFError" >&2; exit 1; }')
    const { code, err } = await keysHere(bench, ['restore', '--yes', '--while-running'])
    expect(code).toBe(1)
    expect(err).toContain('import for the bls key')
    expect(await bench.opens('secp')).toBe(secretOf('secp', 'other'))
  })

  it('backup: what was done is told, in JSON, too', async () => {
    await putTool('[ "$7" = bls ] && { echo "error: KDFError" >&2; exit 1; }')
    const { code, out } = await keysHere(bench, ['backup', '--json'])
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      done: [{ key: 'secp', file: bench.backup('secp') }],
      failed: [{ key: 'bls' }],
    })
  })
})

describe('somebody else in the folder', () => {
  it('a keystore that was changed meanwhile is not replaced', async () => {
    const keystore = bench.keystore('secp')
    await putTool(
      `[ "$1" = import ] && { echo precious > ${keystore}.new; mv ${keystore}.new ${keystore}; }`,
    )
    const { code, err } = await keysHere(bench, RESTORE)
    expect(code).toBe(1)
    expect(err).toContain('has changed since it was looked at')
    expect(await readFile(keystore, 'utf8')).toBe('precious\n')
  })

  it('what lies there is kept, and not what another name of it was', async () => {
    const [file, copy] = [bench.backup('secp'), `${bench.backup('secp')}.20200101000000.bak`]
    await link(file, copy)
    await writeFile(`${file}.new`, 'precious')
    await rename(`${file}.new`, file)
    await link(file, `${file}.elsewhere`)
    const { code, out } = await keysHere(bench, ['backup', '--type', 'secp', '--json'])
    expect(code).toBe(0)
    const [, kept = ''] = /"kept": "([^"]+)"/.exec(out) ?? []
    expect(await readFile(kept, 'utf8')).toBe('precious')
  })

  it('a backup that is a link is not followed, and not called whole', async () => {
    const file = bench.backup('secp')
    await rename(file, `${file}.elsewhere`)
    await symlink(`${file}.elsewhere`, file)
    expect((await keysHere(bench, ['backup', '--type', 'secp'])).err).toContain('it is a link')
    const { code, out } = await keysHere(bench, ['verify', '--type', 'secp'])
    expect(code).toBe(1)
    expect(out).toContain('put the file itself there')
  })
})

describe('files that are not what they are taken for', () => {
  it.each([`Keystore secret: ${secretOf('secp')}`, `KEYSTORE_PASSWORD='${PASSWORD}'`])(
    '%s in the list of recipients: its place is told, and nothing of it',
    async (line) => {
      const file = join(bench.folder, 'recipients')
      await writeFile(file, `# ours\n${line}\n`)
      const argv = ['export', '-R', file, '-o', bench.folder]
      const { code, out, err } = await keysHere(bench, argv)
      expect(code).toBe(1)
      expect(err).toContain(`the recipient in ${file}:2`)
      expectNoSecret(out + err)
    },
  )

  it('the backup of the other type: refused by its public key', async () => {
    await bench.remove()
    bench = await createBench()
    await keysHere(bench, ['backup'])
    const argv = [...RESTORE, '--from', bench.backup('bls')]
    const { code, err } = await keysHere(bench, argv)
    expect(code).toBe(1)
    expect(err).toContain('it is not a secp key, by its public key')
  })

  it('an earlier backup that others may read: not good', async () => {
    const copy = `${bench.backup('secp')}.20200101000000.bak`
    await copyFile(bench.backup('secp'), copy)
    await chmod(copy, 0o644)
    const { code, out } = await keysHere(bench, ['verify', '--type', 'secp'])
    expect(code).toBe(1)
    expect(out).toContain(`others may read ${copy}`)
  })

  it('a note that is none: told, and not written over', async () => {
    const note = join(bench.folder, 'backup/off-node.json')
    await writeFile(note, '{"version":2}')
    expect((await keysHere(bench, ['off-node', 'safe'])).code).toBe(1)
    expect(await readFile(note, 'utf8')).toBe('{"version":2}')
  })
})

it('backups that are noted off this host, and are not here: well, as long as the node has that key', async () => {
  await bench.remove()
  bench = await createBench()
  await keysHere(bench, ['backup'])
  expect((await keysHere(bench, ['off-node', 'safe'])).code).toBe(0)
  for (const type of ['secp', 'bls'] as const)
    await rename(bench.backup(type), `${bench.folder}/${type}`)
  const away = await keysHere(bench, ['verify'])
  expect(away.code).toBe(0)
  expect(away.out).toContain('secp: the backup is off this host')
  await bench.putKeystore('secp', 'other')
  const { code, out } = await keysHere(bench, ['verify'])
  expect(code).toBe(1)
  expect(out).toContain('secp: the backup is NOT good')
  expect(out).toContain('bls: the backup is off this host')
  expect((await keysHere(bench, ['off-node', 'safe'])).err).toContain(
    'while the backup is still here',
  )
})

it('a backup of another secret is not good, though no public key tells it', async () => {
  await bench.putKeystore('secp', 'other')
  const { code, out } = await keysHere(bench, ['verify', '--type', 'secp'])
  expect(code).toBe(1)
  expect(out).toContain('ANOTHER key than in')
})

describe('a keystore of the first version', () => {
  beforeEach(async () => {
    await bench.remove()
    bench = await createBench()
    const secret = Buffer.from(secretOf('secp'), 'hex')
    await writeFile(
      bench.keystore('secp'),
      sealKeystore({ secret, version: 1, password: PASSWORD }),
    )
    await keysHere(bench, ['backup', '--type', 'secp'])
  })

  it('its backup is not good: import would make another key of it', async () => {
    const { code, out } = await keysHere(bench, ['verify', '--type', 'secp'])
    expect(code).toBe(1)
    expect(out).toContain('a keystore of the first version')
  })

  it('and it is not restored, whether the backup tells it or only the keystore that is there', async () => {
    const before = await readFile(bench.keystore('secp'))
    expect((await keysHere(bench, RESTORE)).err).toContain('import would make another key')
    await writeFile(bench.backup('secp'), `Keystore secret: ${secretOf('secp')}\n`)
    expect((await keysHere(bench, RESTORE)).err).toContain('import would make another key')
    expect(await readFile(bench.keystore('secp'))).toStrictEqual(before)
  })
})

describe('where files lie', () => {
  it('a folder that is missing is made, closed, and those above it as folders are', async () => {
    const folder = join(bench.folder, 'opt/chain/backup')
    const config = { ...bench.config.node, backupDirectory: folder }
    const moved = { ...bench, config: { ...bench.config, node: config } }
    expect((await keysHere(moved, ['backup'])).code).toBe(0)
    const modes = await moved.modes('opt', 'opt/chain', 'opt/chain/backup')
    expect(modes).toStrictEqual(['755', '755', '700'])
  })

  it('of all that is gone but what was kept, the newest is named', async () => {
    const file = bench.backup('secp')
    await rename(file, `${file}.20200101000000.bak`)
    expect((await keysHere(bench, RESTORE)).err).toContain(`--from ${file}.20200101000000.bak`)
    await mkdir(join(bench.folder, 'empty'))
    const { err } = await keysHere(bench, [...RESTORE, '--from', join(bench.folder, 'empty')])
    expect(err).toContain('name the file or its folder with --from')
  })
})
