import {
  backupOf,
  exposureOf,
  isReplacedCopyOf,
  type KeyFolders,
  KEY_TYPES,
  keystoreOf,
  offNodeFileOf,
  resolveFolders,
} from '../../domain/key-paths.ts'
import { withinBounds } from '../../core/bounds.ts'
import { KEY_KINDS, KEY_STATES, KEYS } from './definition.ts'
import {
  findBackupProblem,
  findKeystoreProblem,
  findEnvironmentProblem,
  findPasswordProblem,
} from '../../parsers/keystore.ts'
import { parseOffNode } from '../../parsers/off-node.ts'
import type { CollectorDependencies } from '../dependencies.ts'
import type { FileFacts } from '../../sources/key-files.ts'
import { z } from 'zod'
import { ParseError } from '../../core/errors.ts'
import { tryJson } from '../../core/json.ts'

const keyFile = z
  .object({
    key: z.enum(KEYS),
    kind: z.enum(KEY_KINDS),
    /** Null if the agent has no permission to check whether the file exists. */
    state: z.enum(KEY_STATES).nullable(),
    /** The problem, or why the state is unknown. */
    why: z.string().max(80).nullable(),
    /** Modification time of an existing backup, in milliseconds since the epoch. */
    writtenAt: z.number().nullable(),
    /** Number of rotated copies next to a backup. */
    copies: z.number().int().nonnegative().nullable(),
  })
  .readonly()

/** The state of one secret file, without its path and content: it is exported. */
export type KeyFile = z.output<typeof keyFile>

/** Printed by `chain-agent keys-report`, and read by the agent, which has no permissions on the files. */
const reportSchema = z.object({ version: z.literal(1), files: z.array(keyFile) })

type KeyExaminerOptions = Pick<CollectorDependencies, 'keyFiles' | 'readPrefix' | 'keyFolders'>

/** Throws a SourceError if no file can be checked. */
export type ExamineKeys = (signal: AbortSignal) => Promise<readonly KeyFile[]>

interface SecretFile extends Pick<KeyFile, 'key' | 'kind'> {
  readonly path: string
  readonly findProblem: (text: string) => string | null
}

type FileState = Pick<KeyFile, 'state' | 'why'>

/** Checks all secrets of the node and their backups, with the permissions of the process. */
export const createKeyExaminer = ({ readPrefix, keyFolders, keyFiles: files }: KeyExaminerOptions): ExamineKeys => {
  const stateOf = async (
    { path, findProblem }: SecretFile,
    nodeUser: number | null,
  ): Promise<FileState & { readonly facts: FileFacts | null }> => {
    const facts = await files.look(path)
    if (typeof facts === 'string') return { ...STATE_OF[facts], facts: null }
    if (!facts.isFile) return { state: 'invalid', why: 'not a file', facts }
    if (facts.bytes === 0) return { state: 'invalid', why: 'empty', facts }
    if (facts.bytes > files.maxBytes) return { state: 'invalid', why: 'too large', facts }
    const read = await files.read(path, findProblem)
    if (read === 'missing') return { ...STATE_OF.missing, facts: null }
    const problem = typeof read === 'string' ? null : read.verdict
    if (problem !== null) return { state: 'invalid', why: problem, facts }
    const exposure = exposureOf(facts, nodeUser)
    if (exposure !== null) return { state: 'exposed', why: exposure, facts }
    if (typeof read === 'object') return { state: 'ok', why: null, facts }
    if (read === 'denied') return { state: 'unverified', why: 'no permission to read it', facts }
    return { ...STATE_OF[read], facts }
  }

  /** The problem of the first rotated copy that is exposed. */
  const exposedCopy = async (paths: readonly string[], nodeUser: number | null): Promise<string | null> => {
    for (const path of paths) {
      const facts = await files.look(path)
      const exposure = typeof facts === 'string' ? null : exposureOf(facts, nodeUser)
      if (exposure !== null) return `a rotated copy: ${exposure}`
    }
    return null
  }

  /** The secrets with a recorded copy off the node. A note that is older than the keystore may be of another key. */
  const recordedOffNode = async (folders: KeyFolders): Promise<ReadonlySet<KeyFile['key']>> => {
    const read = await files.read(offNodeFileOf(folders), (text) => parseOffNode(text) ?? null)
    const notes = typeof read === 'string' ? [] : (read.verdict ?? [])
    const current = await Promise.all(
      notes.map(async ({ key, at }) => {
        const facts = await files.look(keystoreOf(folders, key))
        const notedAt = withinBounds('unixMilliseconds', Date.parse(at))
        return typeof facts !== 'string' && notedAt !== null && notedAt >= facts.modifiedAt ? [key] : []
      }),
    )
    const recorded = new Set<KeyFile['key']>(current.flat())
    return KEY_TYPES.every((key) => recorded.has(key)) ? recorded.add('password') : recorded
  }

  return async (signal) => {
    const { word } = await readPrefix(signal)
    const folders = await resolveFolders(keyFolders, { prefix: word, files })
    const { directory, backupDirectory } = folders
    const node = await files.look(directory)
    const nodeUser = typeof node === 'string' ? null : node.uid
    const listed = await files.list(backupDirectory)
    const entries = listed === 'missing' ? [] : typeof listed === 'string' ? null : listed
    // The reads may complete after the timeout of the poll.
    signal.throwIfAborted()
    const offNode = await recordedOffNode(folders)
    const examined = secretsIn(folders).map(async (secret) => {
      const { key, kind, path } = secret
      const { facts, ...checked } = await stateOf(secret, nodeUser)
      if (kind === 'keystore') return { key, kind, ...checked, writtenAt: null, copies: null }
      const copies = entries?.map((name) => `${backupDirectory}/${name}`).filter(isReplacedCopyOf(path))
      const isIntact = checked.state === 'ok' || checked.state === 'unverified'
      const exposure = isIntact ? await exposedCopy(copies ?? [], nodeUser) : null
      const isOffNode = checked.state === 'missing' && offNode.has(key)
      const state: FileState = isOffNode
        ? { state: 'off_node', why: null }
        : exposure === null
          ? checked
          : { state: 'exposed', why: exposure }
      const writtenAt = withinBounds('unixMilliseconds', facts?.modifiedAt)
      return { key, kind, ...state, writtenAt, copies: copies?.length ?? null }
    })
    return Promise.all(examined)
  }
}

const STATE_OF = {
  missing: { state: 'missing', why: null },
  denied: { state: null, why: 'no permission to access its directory' },
  failed: { state: null, why: 'the file system returns errors' },
  pending: { state: null, why: 'the file system has not responded yet' },
} as const

const secretsIn = (folders: KeyFolders): readonly SecretFile[] => [
  ...KEY_TYPES.map((key): SecretFile => {
    return { key, kind: 'keystore', path: keystoreOf(folders, key), findProblem: findKeystoreProblem }
  }),
  { key: 'password', kind: 'keystore', path: folders.environmentFile, findProblem: findEnvironmentProblem },
  ...KEYS.map((key): SecretFile => {
    const findProblem = key === 'password' ? findPasswordProblem : findBackupProblem
    return { key, kind: 'backup', path: backupOf(folders, key), findProblem }
  }),
]

/** Uses the report of a privileged unit if one is configured; else the agent checks the files itself. */
export const chooseExaminer = (
  options: KeyExaminerOptions & Pick<CollectorDependencies, 'readKeyReport'>,
): ExamineKeys => {
  const { readKeyReport } = options
  return readKeyReport === null
    ? createKeyExaminer(options)
    : async (signal) => parseKeyReport(await readKeyReport(signal))
}

export const renderKeyReport = (files: readonly KeyFile[]): string =>
  `${JSON.stringify({ version: 1, files }, undefined, 2)}\n`

/** Throws a ParseError without a quote: the configured file may be a key by mistake. */
const parseKeyReport = (text: string): readonly KeyFile[] => {
  const report = reportSchema.safeParse(tryJson(text)).data
  if (report) return report.files
  throw new ParseError('the report on key files', 'the output of chain-agent keys-report', '')
}
