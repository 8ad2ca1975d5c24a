import { chmod, mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../src/core/clock.ts'
import type { Validator } from '../chain.ts'
import type { SimulatedNode } from '../subject.ts'
import { LIVELY, type Pace } from '../pace.ts'
import { type Argument, directive, type Directive, taking } from '../scenario/directives.ts'
import type { Effect } from '../scenario/timeline.ts'
import { keyPairOf, type KeyType, sealKeystore } from './keystore-file.ts'
import { recoveredLines, RECOVERY_START } from './keystore-tool.ts'

declare module '../scenario/timeline.ts' {
  interface Condition {
    readonly keys: Keys
  }
}

/** The secrets of the node: two keystores, the environment file with their password, and a backup of each. */
const KEY_FILES = ['secp', 'bls', 'password', 'secp-backup', 'bls-backup', 'password-backup'] as const

type KeyFileName = (typeof KEY_FILES)[number]
export type Keys = Readonly<Record<KeyFileName, KeyFileState>> & {
  /** When the operator recorded that the backups are off the node. */
  readonly offNodeMs?: number
}

/** The state of the file of one secret. */
interface KeyFileState {
  /** `truncated`: as after a failed write. */
  readonly content: 'complete' | 'truncated' | 'empty' | 'missing'
  readonly mode: number
  readonly writtenMs: number
  /** Earlier versions, renamed and kept in the same directory. */
  readonly rotated: readonly Rotated[]
}

interface Rotated extends Pick<KeyFileState, 'mode' | 'writtenMs'> {
  readonly atMs: number
}

const PRIVATE = 0o600
/** The mode of a redirected file under the default umask. */
const READABLE = 0o644
const MONTH_MS = 30 * 86_400_000

export const usualKeys = (beginMs: number): Keys => {
  const file: KeyFileState = { content: 'complete', mode: PRIVATE, writtenMs: beginMs - MONTH_MS, rotated: [] }
  const [secp, bls, password] = [file, file, file]
  return { secp, bls, password, 'secp-backup': file, 'bls-backup': file, 'password-backup': file }
}

type KeyFileChange = (file: KeyFileState, atMs: number) => Partial<KeyFileState>

/** What a scenario does to a key file. */
const KEY_FILE_CHANGES = new Map<string, KeyFileChange>([
  ['vanishes', () => ({ content: 'missing' })],
  ['empties', (_, writtenMs) => ({ content: 'empty', writtenMs })],
  ['breaks', (_, writtenMs) => ({ content: 'truncated', writtenMs })],
  ['leaks', () => ({ mode: READABLE })],
  [
    'rotates',
    ({ mode, writtenMs, rotated }, atMs) => ({
      content: 'complete',
      writtenMs: atMs,
      rotated: [...rotated, { mode, writtenMs, atMs }],
    }),
  ],
  ['returns', (_, writtenMs) => ({ content: 'complete', mode: PRIVATE, writtenMs })],
])

const keyFileChange: Argument<KeyFileChange> = {
  expected: `one of ${[...KEY_FILE_CHANGES.keys()].join(', ')}`,
  read: (text) => KEY_FILE_CHANGES.get(text),
}

const MEANINGS: Readonly<Record<KeyFileName, string>> = {
  secp: 'the file of the secp keystore is removed, emptied, truncated, made world-readable, renamed and written again, or restored',
  bls: 'the same for the BLS keystore',
  password: 'the same for the environment file, which contains the password of both',
  'secp-backup': 'the same for the backup of the secp key; truncated as by a failed recover',
  'bls-backup': 'the same for the backup of the BLS key',
  'password-backup': 'the same for the backup of the password',
}

const backupsLeave: Effect = (condition, offNodeMs) => {
  const { keys } = condition
  const backups = KEY_FILES.filter((name) => name.endsWith('-backup'))
  const moved = backups.map((name) => [name, { ...keys[name], content: 'missing' }] as const)
  return { ...condition, keys: { ...keys, ...Object.fromEntries(moved), offNodeMs } }
}

export const keyDirectives: readonly Directive[] = [
  ...KEY_FILES.map((name) =>
    directive(
      `key ${name}`,
      MEANINGS[name],
      taking(keyFileChange, (change) => (condition, atMs) => {
        const file = condition.keys[name]
        return { ...condition, keys: { ...condition.keys, [name]: { ...file, ...change(file, atMs) } } }
      }),
    ),
  ),
  directive(
    'backups leave',
    'the backups of the three secrets are kept off the node, as `keys off-node` records',
    backupsLeave,
  ),
]

/** Salt and IV are fixed: a keystore has the same content in every run. */
const letters = (count: number): Buffer => Buffer.from('simulated, not a key; '.repeat(5)).subarray(0, count)

const PASSWORD = 'simulated-not-a-password'

type NodeSecrets = Validator['sealed']

/** A keystore that the simulated tool opens with the password. */
const keystore = (keys: NodeSecrets, type: KeyType): string =>
  sealKeystore({ ...keys[type], password: PASSWORD, salt: letters(32), iv: letters(16) })

/** The output of `recover`. */
const backup = (keys: NodeSecrets, type: KeyType): string =>
  [RECOVERY_START, ...recoveredLines(keys[type], type), ''].join('\n')

/** Functions, because encrypting a keystore takes milliseconds. */
type Contents = Readonly<Record<KeyFileName, (keys: NodeSecrets) => string>>

const COMPLETE: Contents = {
  secp: (keys) => keystore(keys, 'secp'),
  bls: (keys) => keystore(keys, 'bls'),
  password: () => `# simulated\nCHAIN=simulated\nKEYSTORE_PASSWORD='${PASSWORD}'\n`,
  'secp-backup': (keys) => backup(keys, 'secp'),
  'bls-backup': (keys) => backup(keys, 'bls'),
  'password-backup': () => `Keystore password: ${PASSWORD}\n`,
}

/** A failed `recover` leaves its first line; the other files are cut off, as on a full disk. */
const TRUNCATED: Contents = {
  secp: (keys) => COMPLETE.secp(keys).slice(0, 100),
  bls: (keys) => COMPLETE.bls(keys).slice(0, 100),
  password: () => '# simulated\nCHAIN=simulated\nKEYSTORE_PASSWORD=\n',
  'secp-backup': () => `${RECOVERY_START}\n`,
  'bls-backup': () => `${RECOVERY_START}\n`,
  'password-backup': () => 'Keystore password: \n',
}

const CONTENTS = { complete: COMPLETE, truncated: TRUNCATED } as const

/** Where the simulated host has the files of its node. */
export interface NodePlaces {
  readonly nodeDirectory: string
  readonly backupDirectory: string
  readonly environmentFile: string
}

interface KeyFileKeeper {
  readonly places: NodePlaces
  /** Updates the files as the scenario requires, until the signal aborts. */
  keep(run: { readonly clock: Clock; readonly signal: AbortSignal; readonly pace?: Pace }): Promise<void>
}

/** Writes the key files of the node under `directory`; all of them exist when the promise resolves. */
export const createKeyFiles = async (node: SimulatedNode, directory: string): Promise<KeyFileKeeper> => {
  const places = placesIn(directory, node.prefix)
  const paths = pathsIn(places)
  for (const folder of [join(places.nodeDirectory, 'config'), places.backupDirectory]) {
    await mkdir(folder, { recursive: true, mode: 0o750 })
  }
  const { sealed } = node.own
  const settled = new Map<KeyFileName, KeyFileState>()
  let notedMs: number | undefined
  /** A file that does not change in the scenario is not written again, even if the operator changed it. */
  const settle = async (): Promise<void> => {
    const { keys } = node.condition()
    for (const name of KEY_FILES) {
      const [before, now] = [settled.get(name), keys[name]]
      if (before === now) continue
      for (const copy of now.rotated.slice(before?.rotated.length ?? 0)) {
        const rotated = `${paths[name]}.${stamp(copy.atMs)}.bak`
        await writeKeyFile(rotated, { name, keys: sealed, content: 'complete', ...copy })
      }
      await writeKeyFile(paths[name], { ...now, name, keys: sealed })
      settled.set(name, now)
    }
    if (keys.offNodeMs === undefined || keys.offNodeMs === notedMs) return
    notedMs = keys.offNodeMs
    await writeFile(join(places.backupDirectory, 'off-node.json'), renderNote(sealed, notedMs), { mode: 0o600 })
  }
  await settle()
  return {
    places,
    keep: async ({ clock, signal, pace = LIVELY }) => {
      while (!signal.aborted) {
        await clock.sleep(pace.keyFilesMs, signal)
        // The directory may have been removed; the node continues without it.
        await settle().catch(() => undefined)
      }
    },
  }
}

/** What `keys off-node` writes. */
const renderNote = (keys: NodeSecrets, atMs: number): string => {
  const copies = (['secp', 'bls'] as const).map((key) => ({
    key,
    publicKey: keyPairOf(keys[key], key).publicKey,
    where: 'vault of the team',
    at: new Date(atMs).toISOString(),
  }))
  return `${JSON.stringify({ version: 1, copies }, undefined, 2)}\n`
}

const placesIn = (directory: string, prefix: string): NodePlaces => ({
  nodeDirectory: join(directory, 'home', prefix, `${prefix}-bft`),
  environmentFile: join(directory, 'home', prefix, '.env'),
  backupDirectory: join(directory, 'backup'),
})

const pathsIn = (places: NodePlaces): Readonly<Record<KeyFileName, string>> => ({
  secp: join(places.nodeDirectory, 'config', 'id-secp'),
  bls: join(places.nodeDirectory, 'config', 'id-bls'),
  password: places.environmentFile,
  'secp-backup': join(places.backupDirectory, 'secp-backup'),
  'bls-backup': join(places.backupDirectory, 'bls-backup'),
  'password-backup': join(places.backupDirectory, 'keystore-password-backup'),
})

/** 20260301121030, as in the node's instructions for an export. */
const stamp = (ms: number): string => new Date(ms).toISOString().replaceAll(/\D/g, '').slice(0, 14)

interface Content extends Omit<KeyFileState, 'rotated'> {
  readonly name: KeyFileName
  readonly keys: NodeSecrets
}

/** Atomic: a reader sees the file before the change or after it. */
const writeKeyFile = async (path: string, file: Content): Promise<void> => {
  const { name, keys, content } = file
  if (content === 'missing') {
    await rm(path, { force: true })
    return
  }
  await writeFile(`${path}.new`, content === 'empty' ? '' : CONTENTS[content][name](keys), { mode: 0o600 })
  await chmod(`${path}.new`, file.mode)
  await utimes(`${path}.new`, file.writtenMs / 1000, file.writtenMs / 1000)
  await rename(`${path}.new`, path)
}
