import { redact } from '../../core/redact.ts'
import { type RedactionKind, redactDocument, redactLog } from '../../core/redact-log.ts'
import { sha256 } from '../../core/hash.ts'
import { version } from '../../core/version.ts'

/** How often each kind of secret was redacted. */
export type RedactionCounts = Partial<Record<RedactionKind, number>>

interface Member {
  readonly name: string
  readonly text: string
  readonly redacted: RedactionCounts
}

/** The members of the archive. Every text is redacted here, even if it was redacted before. */
export interface Members {
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  document(name: string, text: string): void
  /** Lines of a log, with the counts of earlier redactions. */
  log(name: string, text: string, redacted: RedactionCounts): void
  leaveOut(name: string, why: string): void
  /** All members, the manifest first. */
  all(): readonly Member[]
  /** Missing members, with the reason. */
  leftOut(): readonly { readonly name: string; readonly why: string }[]
}

export const createMembers = (createdAt: number): Members => {
  const members: Member[] = []
  const left: { name: string; why: string }[] = []
  const add = (
    name: string,
    redacted: RedactionCounts,
    apply: (count: (kind: RedactionKind) => void) => string,
  ): void => {
    const counts = { ...redacted }
    const text = redact(
      apply((kind) => {
        counts[kind] = (counts[kind] ?? 0) + 1
      }),
    )
    members.push({ name, text, redacted: counts })
  }
  return {
    createdAt,
    document: (name, text) => {
      add(name, {}, (count) => redactDocument(text, count))
    },
    log: (name, text, redacted) => {
      add(name, redacted, (count) =>
        text
          .split('\n')
          .map((line) => redactLog(line, count))
          .join('\n'),
      )
    },
    leaveOut: (name, why) => {
      left.push({ name, why: redact(redactDocument(why)) })
    },
    all: () => [{ name: 'manifest.json', text: manifest(createdAt, members, left), redacted: {} }, ...members],
    leftOut: () => left,
  }
}

const manifest = (at: number, members: readonly Member[], leftOut: readonly object[]): string => {
  const files = members.map(({ name, text, redacted }) => ({
    name,
    bytes: Buffer.byteLength(text),
    sha256: sha256(text),
    redacted,
  }))
  const value = {
    version: 1,
    createdAt: new Date(at).toISOString(),
    agent: version,
    files,
    leftOut,
  }
  return `${JSON.stringify(value, undefined, 2)}\n`
}
