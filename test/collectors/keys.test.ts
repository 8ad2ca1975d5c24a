import { execFileSync } from 'node:child_process'
import { chmod, chown, mkdir, rename, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { keys } from '../../src/collectors/keys/collector.ts'
import { chooseExaminer, createKeyExaminer, renderKeyReport } from '../../src/collectors/keys/files.ts'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import { type FileProblem, keyFiles, type KeyFiles } from '../../src/sources/key-files.ts'
import { createKeyReport } from '../../src/sources/reports.ts'
import { createKeyDirectory } from '../support/key-files.ts'
import { manualClock } from '../support/manual-clock.ts'
import { probeRoot } from '../support/ordinary-user.ts'
import { requireRealPart } from '../support/real-parts.ts'
import { pollOnce, readingOf, valuesOf } from './run-collector.ts'

const withRoot = await requireRealPart('root', probeRoot)
const SECRET = { hex: 'cafe1234'.repeat(8), word: 'CanaryOfKeys8Z3q' }
const timing = { interval: 60_000, timeout: 10_000 }
const never = new AbortController().signal
const readPrefix = () => Promise.resolve({ word: 'zephyr', from: 'configuration' as const })

let node: Awaited<ReturnType<typeof createKeyDirectory>>
beforeEach(async () => {
  node = await createKeyDirectory(SECRET)
})
afterEach(async () => {
  await node.remove()
})

const collectorOf = (files: KeyFiles = keyFiles) =>
  keys({ keyFiles: files, readPrefix, keyFolders: node.places, readKeyReport: null, timing })

/** The collector with the reading of one poll. */
const polled = async (files: KeyFiles = keyFiles) => {
  const collector = collectorOf(files)
  return { collector, reading: readingOf(await pollOnce(collector, manualClock())) }
}

const states = async (files?: KeyFiles): Promise<Readonly<Record<string, string>>> => {
  const { collector, reading } = await polled(files)
  return collector.states(reading)
}

const metrics = async (files?: KeyFiles): Promise<Readonly<Record<string, number>>> => {
  const { collector, reading } = await polled(files)
  return valuesOf(
    collector.samples(reading).filter(({ value }) => value !== 0),
    'chain_key_',
  )
}

const HEALTHY = {
  'key files': 'all are accessible',
  'secp keystore': 'ok',
  'bls keystore': 'ok',
  'environment file': 'ok',
  'secp backup': 'ok',
  'bls backup': 'ok',
  'password backup': 'ok',
}

test('files under the fixed prefix are found on a node whose units have another one', async () => {
  await mkdir(`${node.root}/home/monad`)
  await rename(`${node.root}/home/zephyr/zephyr-bft`, `${node.root}/home/monad/monad-bft`)
  await rename(`${node.root}/home/zephyr/.env`, `${node.root}/home/monad/.env`)
  expect(await states()).toEqual(HEALTHY)
})

test('a healthy node', async () => {
  await utimes(node.paths['secp backup'], 1_700_000_000, 1_700_000_000)
  await utimes(node.paths['bls backup'], 1_700_000_001, 1_700_000_001.5)
  await rm(node.paths['password backup'])
  expect(await metrics()).toEqual({
    'file_state{secp,keystore,ok}': 1,
    'file_state{bls,keystore,ok}': 1,
    'file_state{password,keystore,ok}': 1,
    'file_state{secp,backup,ok}': 1,
    'file_state{bls,backup,ok}': 1,
    'file_state{password,backup,missing}': 1,
    'backup_timestamp_seconds{secp}': 1_700_000_000,
    'backup_timestamp_seconds{bls}': 1_700_000_001.5,
  })
  expect(await states()).toEqual({ ...HEALTHY, 'password backup': 'missing' })
})

describe('backups that are kept off the node', () => {
  const KEYSTORE_S = 1_700_000_000
  const record = async (copies: Readonly<Record<'secp' | 'bls', string>>) => {
    for (const name of ['secp keystore', 'bls keystore'] as const) {
      await utimes(node.paths[name], KEYSTORE_S, KEYSTORE_S)
    }
    for (const name of ['secp backup', 'bls backup', 'password backup'] as const) await rm(node.paths[name])
    const notes = Object.entries(copies).map(([key, at]) => ({ key, publicKey: '02ab', where: 'vault', at }))
    const file = join(dirname(node.paths['secp backup']), 'off-node.json')
    await writeFile(file, JSON.stringify({ version: 1, copies: notes }))
  }
  // The keystores are of 2023-11-14T22:13:20Z.
  test('are not missing, nor is that of the password', async () => {
    await record({ secp: '2023-11-14T22:13:20Z', bls: '2024-01-01T00:00:00Z' })
    const away = { 'secp backup': 'off_node', 'bls backup': 'off_node', 'password backup': 'off_node' }
    expect(await states()).toEqual({ ...HEALTHY, ...away })
  })
  test('are missing if the keystore is newer than the note', async () => {
    await record({ secp: '2023-11-14T22:13:19Z', bls: '2024-01-01T00:00:00Z' })
    const found = { 'secp backup': 'missing', 'bls backup': 'off_node', 'password backup': 'missing' }
    expect(await states()).toEqual({ ...HEALTHY, ...found })
  })
})

type Place = Exclude<keyof typeof HEALTHY, 'key files'>

describe('problems of a file', () => {
  const write = (content: string) => async (path: string) => node.put(path, content)
  const gone = async (path: string) => rm(path)
  const pipe = async (path: string) => {
    await rm(path)
    execFileSync('/usr/bin/env', ['mkfifo', path])
  }
  const wrong: readonly (readonly [string, Place, (path: string) => Promise<unknown>, string])[] = [
    ['is gone', 'bls keystore', gone, 'missing'],
    ['is gone', 'environment file', gone, 'missing'],
    ['is empty', 'secp backup', write(''), 'invalid: empty'],
    ['is cut', 'secp keystore', async (path) => truncate(path, 40), 'invalid: not JSON'],
    ['no secret', 'bls backup', write('Secp public key: 02'), 'invalid: no line with the secret'],
    ['no password', 'environment file', write('A=b\n'), 'invalid: no password in it'],
    ['no password', 'password backup', write('Keystore password: \n'), 'invalid: no password in it'],
    ['too long', 'bls backup', async (path) => truncate(path, 65_537), 'invalid: too large'],
    ['for all', 'secp backup', async (path) => chmod(path, 0o644), 'exposed: mode 0644'],
    ['for the group', 'environment file', async (path) => chmod(path, 0o640), 'exposed: mode 0640'],
    ['to be replaced', 'bls keystore', async (path) => chmod(path, 0o602), 'exposed: mode 0602'],
    ['empty and for all: empty is worse', 'secp backup', async (path) => node.put(path, '', 0o666), 'invalid: empty'],
    ['a directory', 'secp keystore', async (path) => rm(path).then(() => mkdir(path)), 'invalid: not a file'],
    ['a pipe does not block the poll', 'secp keystore', pipe, 'invalid: not a file'],
  ]
  test.each(wrong)('%s: %s', async (...[, place, change, state]) => {
    await change(node.paths[place])
    expect(await states()).toEqual({ ...HEALTHY, [place]: state })
  })
})

test.each([
  ['a private file', 0o600, true, 'ok'],
  ['a file readable by all', 0o644, true, 'exposed: mode 0644'],
  ['a missing file', 0o600, false, 'missing'],
])('a link is followed, as the node follows it: to %s', async (...[, mode, exists, state]) => {
  const path = node.paths['secp keystore']
  const target = `${node.root}/elsewhere`
  await rename(path, target)
  await chmod(target, mode)
  await symlink(target, path)
  if (!exists) await rm(target)
  expect(await states()).toEqual({ ...HEALTHY, 'secp keystore': state })
})

describe('rotated copies', () => {
  test('are counted, and other files are not', async () => {
    const { backup } = node.contents
    const path = node.paths['secp backup']
    for (const end of ['.20260301121000.bak', '.20260302121000.bak']) await node.put(path + end, '')
    for (const end of ['.2026.bak', '.20260301121000', '.bak', 'x.20260301121000.bak', '~'])
      await node.put(path + end, backup, 0o644)
    const { 'backup_copies{secp}': secp, 'backup_copies{bls}': bls } = await metrics()
    expect([secp, bls]).toEqual([2, undefined])
    expect(await states()).toEqual(HEALTHY)
  })
  test('expose the key as the backup does, and do not replace a worse state of the backup', async () => {
    await node.put(`${node.paths['bls backup']}.20260301121000.bak`, '', 0o604)
    expect(await states()).toEqual({ ...HEALTHY, 'bls backup': 'exposed: a rotated copy: mode 0604' })
    await node.put(node.paths['bls backup'], '')
    expect(await states()).toEqual({ ...HEALTHY, 'bls backup': 'invalid: empty' })
  })
  test('do not replace a missing backup', async () => {
    await rename(node.paths['bls backup'], `${node.paths['bls backup']}.20260301121000.bak`)
    expect(await states()).toEqual({ ...HEALTHY, 'bls backup': 'missing' })
    expect(await metrics()).toHaveProperty('backup_copies{bls}', 1)
  })
})

withRoot('the owner', () => {
  const NODE = 64_001
  const OTHER = 64_002
  test('may be root and the user of the node', async () => {
    await chown(node.places.directory.replaceAll('{prefix}', 'zephyr'), NODE, NODE)
    await chown(node.paths['secp keystore'], NODE, NODE)
    await chown(node.paths['secp backup'], OTHER, NODE)
    expect(await states()).toEqual({
      ...HEALTHY,
      'secp backup': 'exposed: its owner is neither root nor the user of the node',
    })
  })
  test('if the user of the node is unknown, only the mode is checked', async () => {
    await chown(node.paths['secp backup'], OTHER, OTHER)
    await rm(`${node.root}/home`, { recursive: true })
    expect(await states()).toMatchObject({ 'secp backup': 'ok', 'secp keystore': 'missing' })
  })
})

describe('without permission', () => {
  /** Denies access to paths with this prefix. */
  const denying = (path: string, how: { look?: FileProblem; read?: FileProblem; list?: FileProblem }) => ({
    ...keyFiles,
    look: async (at: string) => (at.startsWith(path) && how.look) || keyFiles.look(at),
    list: async (at: string) => (at.startsWith(path) && how.list) || keyFiles.list(at),
    read: async <T extends object | string | null>(at: string, judge: (text: string) => T) =>
      (at.startsWith(path) && how.read) || keyFiles.read(at, judge),
  })

  test('to read: the file exists with a private mode, the content is unknown', async () => {
    const { 'key files': all, ...each } = await states(denying(node.root, { read: 'denied' }))
    expect(all).toBe(HEALTHY['key files'])
    expect(Object.values(each)).toEqual(Array(6).fill('unverified: no permission to read it'))
    await chmod(node.paths['secp backup'], 0o640)
    expect(await states(denying(node.root, { read: 'denied' }))).toHaveProperty('secp backup', 'exposed: mode 0640')
    // A disk that fails is not a file without permission.
    const failing = await states(denying(node.paths['bls backup'], { read: 'failed' }))
    expect(failing).toHaveProperty('bls backup', 'unknown: the file system returns errors')
  })
  test('to enter the home directory: its files are unknown, and the advice is reported once', async () => {
    const denied = denying(`${node.root}/home`, { look: 'denied' })
    expect(Object.keys(await metrics(denied)).filter((name) => name.includes('keystore'))).toEqual([])
    const unknown = 'unknown: no permission to access its directory'
    const home = { 'secp keystore': unknown, 'bls keystore': unknown, 'environment file': unknown }
    const { 'key files': all, ...others } = await states(denied)
    expect({ ...HEALTHY, ...others }).toEqual({ ...HEALTHY, ...home })
    expect(all).toContain(
      'not all are accessible; run `sudo systemctl enable --now chain-agent-keys.timer` (docs/how-to/host.md)',
    )
  })
  test('to list the backups: the number of copies is unknown', async () => {
    await node.put(`${node.paths['secp backup']}.20260301121000.bak`, '')
    const shown = await metrics(denying(node.root, { list: 'denied' }))
    expect(Object.keys(shown).filter((name) => name.includes('copies'))).toEqual([])
    expect(shown).toHaveProperty('file_state{secp,backup,ok}', 1)
  })
  test.each(['denied', 'failed'] as const)('for any file (%s): a failure', async (trouble) => {
    const outcome = await pollOnce(collectorOf(denying(node.root, { look: trouble, list: trouble })), manualClock())
    expect(outcome.ok ? '' : outcome.error.message).toContain('chain-agent-keys.timer')
    expect(outcome.ok ? node.root : outcome.error.message).not.toContain(node.root)
  })
})

test('contents and paths are never exported', async () => {
  await chmod(node.paths['secp backup'], 0o644)
  await node.put(node.paths['bls backup'], `Keystore secret: ${SECRET.hex}ff\n${SECRET.word}`)
  await node.put(node.paths['bls keystore'], `{"ciphertext": ${SECRET.word}`)
  await node.put(node.paths['environment file'], `PASSWORD=${SECRET.word}`)
  const { collector, reading } = await polled()
  const shown = [collector.samples(reading), collector.states(reading), renderKeyReport(reading)]
  const exported = JSON.stringify([reading, shown])
  expect(exported.match(/invalid: /g)).toHaveLength(3)
  for (const secret of [...Object.values(SECRET), node.root]) expect(exported).not.toContain(secret)
})

/** 2026-03-01T10:00:00Z, in seconds. */
const WRITTEN = 1_772_359_200

describe('the report of a privileged unit', () => {
  const reading = (clock: Clock = systemClock) =>
    chooseExaminer({
      keyFiles: { ...keyFiles, look: () => Promise.reject(new Error('the files must not be read')) },
      readKeyReport: createKeyReport({ reportFile: `${node.root}/report.json`, ...timing }, clock),
      readPrefix,
      keyFolders: node.places,
    })
  const examine = async () => createKeyExaminer({ keyFiles, readPrefix, keyFolders: node.places })(never)

  test('has the same result as a check by the agent', async () => {
    await rm(node.paths['bls keystore'])
    await chmod(node.paths['secp backup'], 0o644)
    const seen = await examine()
    await node.put(`${node.root}/report.json`, renderKeyReport(seen))
    await utimes(`${node.root}/report.json`, WRITTEN, WRITTEN)
    expect(await reading(manualClock(WRITTEN * 1000))(never)).toEqual(seen)
  })
  test('is missing: the error names the unit that writes it', async () => {
    await expect(reading()(never)).rejects.toThrow('chain-agent-keys.timer')
  })
  test.each(['', '{}', '{"version":2,"files":[]}', '{"version":1,"files":[{"key":"rsa"}]}'])(
    'is rejected: %j',
    async (text) => {
      await node.put(`${node.root}/report.json`, text)
      await expect(reading()(never)).rejects.toThrow('the output of chain-agent keys-report')
    },
  )
  test('is not quoted if a key file is configured by mistake', async () => {
    await node.put(`${node.root}/report.json`, `a plain horse ${node.contents.backup}`)
    const error = await reading()(never).then(() => '', String)
    expect(error).toContain('the report on key files')
    for (const secret of [...Object.values(SECRET), 'horse']) expect(error).not.toContain(secret)
  })
})
