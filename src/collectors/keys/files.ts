import {
  backupOf,
  exposureOf,
  isReplacedCopyOf,
  type KeyFolders,
  keystoreOf,
  resolveFolders,
} from '../../core/key-paths.ts'
import type { KEY_KINDS, KEY_STATES, KEYS } from './definition.ts'
import { findBackupProblem, findKeystoreProblem } from '../../parsers/keystore.ts'
import { findEnvironmentProblem, findPasswordProblem } from '../../parsers/keystore-password.ts'
import type { FileFacts, KeyFiles } from '../../sources/key-files.ts'
import type { ReadPrefix } from '../../sources/prefix.ts'
import { onceAtATime } from './once-at-a-time.ts'

/** How it stands with one secret file. No path and nothing of the content: this is shown to everybody. */
export interface KeyFile {
  readonly key: (typeof KEYS)[number]
  readonly kind: (typeof KEY_KINDS)[number]
  /** Null where this user cannot even see whether it is there. */
  readonly state: (typeof KEY_STATES)[number] | null
  /** What is wrong, or why the state is unknown. */
  readonly why: string | null
  /** Of a backup that is there, in milliseconds since the epoch. */
  readonly writtenAt: number | null
  /** How many earlier ones lie beside a backup. */
  readonly copies: number | null
}

export interface ExaminerParts {
  readonly files: KeyFiles
  readonly readPrefix: ReadPrefix
  readonly places: KeyFolders
}

/** Throws a SourceError where nothing could even be asked. */
export type ExamineKeys = (signal: AbortSignal) => Promise<readonly KeyFile[]>

interface Place extends Pick<KeyFile, 'key' | 'kind'> {
  readonly path: string
  readonly findProblem: (text: string) => string | null
}

type State = Pick<KeyFile, 'state' | 'why'>

/** Looks at every secret of the node and every backup of one, with the rights of whoever calls it. */
export const createKeyExaminer = (parts: ExaminerParts): ExamineKeys => {
  const { readPrefix, places } = parts
  const files = onceAtATime(parts.files)

  const stateOf = async (
    { path, findProblem }: Place,
    nodeUser: number | null,
  ): Promise<State & { readonly facts: FileFacts | null }> => {
    const facts = await files.look(path)
    if (typeof facts === 'string') return { ...WHERE[facts], facts: null }
    if (!facts.isFile) return { state: 'invalid', why: 'not a file', facts }
    if (facts.bytes === 0) return { state: 'invalid', why: 'empty', facts }
    if (facts.bytes > files.maxBytes) return { state: 'invalid', why: 'far too long', facts }
    const read = await files.read(path, findProblem)
    if (read === 'none') return { ...WHERE.none, facts: null }
    const problem = typeof read === 'string' ? null : read.verdict
    if (problem !== null) return { state: 'invalid', why: problem, facts }
    const exposure = exposureOf(facts, nodeUser)
    if (exposure !== null) return { state: 'exposed', why: exposure, facts }
    if (typeof read === 'object') return { state: 'ok', why: null, facts }
    if (read === 'barred') return { state: 'unverified', why: 'this user may not read it', facts }
    return { ...WHERE[read], facts }
  }

  /** What is wrong with any of the copies that were rotated away. */
  const exposedCopy = async (
    paths: readonly string[],
    nodeUser: number | null,
  ): Promise<string | null> => {
    for (const path of paths) {
      const facts = await files.look(path)
      const exposure = typeof facts === 'string' ? null : exposureOf(facts, nodeUser)
      if (exposure !== null) return `a rotated copy: ${exposure}`
    }
    return null
  }

  return async (signal) => {
    const { word } = await readPrefix(signal)
    const folders = await resolveFolders(places, { prefix: word, files })
    const { directory, backupDirectory } = folders
    const node = await files.look(directory)
    const nodeUser = typeof node === 'string' ? null : node.uid
    const listed = await files.list(backupDirectory)
    const entries = listed === 'none' ? [] : typeof listed === 'string' ? null : listed
    // What was waited for may come when nobody waits any more.
    signal.throwIfAborted()
    const keystores = keystoresIn(folders).map(async (place) => {
      const { state, why } = await stateOf(place, nodeUser)
      return { key: place.key, kind: place.kind, state, why, writtenAt: null, copies: null }
    })
    const backups = backupsIn(folders).map(async (place) => {
      const { key, kind, path } = place
      const { facts, ...found } = await stateOf(place, nodeUser)
      const copies = entries
        ?.map((name) => `${backupDirectory}/${name}`)
        .filter(isReplacedCopyOf(path))
      const isSound = found.state === 'ok' || found.state === 'unverified'
      const exposure = isSound ? await exposedCopy(copies ?? [], nodeUser) : null
      const state: State = exposure === null ? found : { state: 'exposed', why: exposure }
      const writtenAt = facts?.modifiedAt ?? null
      return { key, kind, ...state, writtenAt, copies: copies?.length ?? null }
    })
    return Promise.all([...keystores, ...backups])
  }
}

const WHERE = {
  none: { state: 'missing', why: null },
  barred: { state: null, why: 'this user may not go where it lies' },
  broken: { state: null, why: 'the file system fails there' },
  waiting: { state: null, why: 'the file system there has not answered yet' },
} as const

const keystoresIn = (folders: KeyFolders): readonly Place[] => {
  const [kind, findProblem] = ['keystore' as const, findKeystoreProblem]
  const path = folders.environmentFile
  return [
    { key: 'secp', kind, path: keystoreOf(folders, 'secp'), findProblem },
    { key: 'bls', kind, path: keystoreOf(folders, 'bls'), findProblem },
    { key: 'password', kind, path, findProblem: findEnvironmentProblem },
  ]
}

const backupsIn = (folders: KeyFolders): readonly Place[] => {
  const [kind, findProblem] = ['backup' as const, findBackupProblem]
  return [
    { key: 'secp', kind, path: backupOf(folders, 'secp'), findProblem },
    { key: 'bls', kind, path: backupOf(folders, 'bls'), findProblem },
    {
      key: 'password',
      kind,
      path: backupOf(folders, 'password'),
      findProblem: findPasswordProblem,
    },
  ]
}
