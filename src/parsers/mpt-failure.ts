import { excerpt } from '../core/errors.ts'
import { plainLines } from './plain-lines.ts'

/** What the storage tool is known to say when it fails, and what to do about it. */
const KNOWN: readonly (readonly [RegExp, string])[] = [
  [
    /DB is on older format/,
    'the package is newer than the database: stop the node, run the tool with --upgrade once, start the node',
  ],
  [
    /closed dirty/,
    'it passes by itself: the node was writing, and the next reading is tried as usual',
  ],
  [
    /Neither copy of the DB metadata is valid/,
    'the database is corrupt: restore it from a snapshot',
  ],
  [
    /has not been initialised for use with storage pool/,
    "this is not the node's database: correct storage.devices",
  ],
  [
    /DB was generated with version/,
    "the tool and the database are of different releases: use the tool of the node's own package",
  ],
  [
    /open failed/,
    'see that the device in storage.devices exists, and that this user may read it (group, DeviceAllow=)',
  ],
  [
    /io_uring/,
    'the kernel or the sandbox refuses io_uring: see kernel.io_uring_disabled, SystemCallFilter=, LimitMEMLOCK=',
  ],
  [
    /MAP_FAILED/,
    'no free huge pages of 2 MiB, or the sandbox forbids them: see HugePages_Free in /proc/meminfo',
  ],
  [/--storage is required/, 'name a device in storage.devices'],
]

/** The last line of a crash: `PROGRAM: FILE:LINE: FUNCTION: Assertion 'x' failed.`, or that it aborted. */
const CRASH = /: (Assertion '.*' failed\.|[A-Z]+_ABORT called\.)$/
const FATAL = /^FATAL: (.+)$/
const LABEL = /^(?:assertion failure|abort) message: /

export interface StorageFailure {
  /** The tool's own words, on one line. */
  readonly message: string
  /** What to do, where that is known. */
  readonly advice: string | undefined
}

/** Why the storage tool failed, from its standard error; null when that does not say. */
export const readStorageFailure = (stderr: string): StorageFailure | null => {
  const words = wordsOf(plainLines(stderr))
  if (words === null) return null
  const [, advice] = KNOWN.find(([pattern]) => pattern.test(words)) ?? []
  return { message: excerpt(words), advice }
}

/** Of a line without a bound, what a look at its end needs. */
const END = 4096

const wordsOf = (lines: readonly string[]): string | null => {
  for (const [at, line] of lines.entries()) {
    const [, fatal] = FATAL.exec(line) ?? []
    if (fatal !== undefined) return fatal
    const [, crash] = CRASH.exec(line.slice(-END)) ?? []
    // The reason follows on a line of its own, if there is one.
    if (crash !== undefined) return lines[at + 1]?.replace(LABEL, '') || crash
  }
  // A crash that was cut off, or a program in between.
  return lines.find((line) => KNOWN.some(([pattern]) => pattern.test(line)))?.trim() ?? null
}
