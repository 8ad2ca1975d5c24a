import { z } from 'zod'
import { SourceError } from '../../core/errors.ts'
import { fingerprint } from '../../core/hash.ts'
import { QueryError } from '../client/errors.ts'
import type { BlockHash } from '../client/types.ts'
import { readWhole, removeFile, replaceFile } from '../../sources/partial-file.ts'

/** What a run was asked for, by parts: each as a fingerprint, so that an address with a key in it stays unsaid. */
export type Identity = Readonly<Record<string, string>>

export const identityOf = (parts: Readonly<Record<string, unknown>>): Identity =>
  Object.fromEntries(
    Object.entries(parts).map(([name, part]) => [name, fingerprint(JSON.stringify(part ?? null))]),
  )

/** How far a run has come. */
export interface Mark {
  /** The last block that is wanted: as it was decided when the run began. */
  readonly target: number
  /** The first block that is still to be read. */
  readonly next: number
  /** The last block before it that the service told a hash of: what comes next must stand on it. */
  readonly last: BlockHash | null
  readonly logs: number
  /** So much of the output is vouched for, in bytes; 0 where it is written at the end. */
  readonly offset: number
}

const VERSION = 1
const count = z.int().nonnegative()
const headSchema = z.object({
  version: z.literal(VERSION),
  identity: z.record(z.string(), z.string()),
  mark: z.object({
    target: count,
    next: count,
    last: z.object({ block: count, hash: z.string() }).nullable(),
    logs: count,
    offset: count,
  }),
  payload: z.string(),
})

const versionSchema = z.object({ version: z.int() })

export interface CheckpointFile {
  /** Undefined where there is none. Throws a SourceError for one of another run, or one that is damaged. */
  read(): Promise<{ readonly mark: Mark; readonly payload: Uint8Array } | undefined>
  write(mark: Mark, payload?: Uint8Array): Promise<void>
  remove(): Promise<void>
}

const NOTHING = new Uint8Array()
const LINE_END = 0x0a

/** A line of JSON, and behind it whatever the run needs to go on. Never holds a key, nor an address. */
export const openCheckpoint = (file: string, identity: Identity): CheckpointFile => ({
  read: async () => {
    const bytes = await readWhole(file)
    if (!bytes) return undefined
    const end = bytes.indexOf(LINE_END)
    const written = parsed(bytes.subarray(0, Math.max(end, 0)))
    const { version = VERSION } = versionSchema.safeParse(written).data ?? {}
    if (version !== VERSION) {
      throw refused(file, 'another version of this program has written it')
    }
    const head = headSchema.safeParse(written).data
    const payload = bytes.subarray(end + 1)
    if (!head || head.payload !== fingerprint(payload)) throw refused(file, 'it is damaged')
    const differing = [
      ...new Set([...Object.keys(head.identity), ...Object.keys(identity)]),
    ].filter((part) => head.identity[part] !== identity[part])
    if (differing.length > 0) {
      throw refused(file, `it is of a run that was asked otherwise: ${differing.join(', ')}`)
    }
    return { mark: head.mark, payload }
  },
  write: async (mark, payload = NOTHING) => {
    const head = { version: VERSION, identity, mark, payload: fingerprint(payload) }
    await replaceFile(file, [Buffer.from(`${JSON.stringify(head)}\n`), payload])
  },
  remove: () => removeFile(file),
})

const parsed = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(Buffer.from(bytes).toString())
  } catch {
    return undefined
  }
}

const refused = (file: string, happened: string): SourceError =>
  new SourceError({
    doing: `go on from ${file}`,
    happened,
    advice: 'give the same options as the first time, or remove the file to begin anew',
  })

/** A run that is gone on with ends where it was to end: a service that has fewer blocks now must be waited for. */
export const fellBack = (target: number): QueryError =>
  new QueryError('no-data', {
    doing: 'finish the run that was begun',
    happened: 'the service has fewer blocks now than when it began',
    evidence: `it was to end with block ${target}`,
    advice: 'try again when it has them',
  })

/** What was begun is not begun again by mistake: hours of reading may be in it. */
export const unfinished = (file: string): SourceError =>
  new SourceError({
    doing: 'begin',
    happened: `${file} is there: an earlier run was not finished`,
    advice: 'go on with it with --resume, or remove it to begin anew',
  })
