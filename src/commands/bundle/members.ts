import { redact } from '../../core/redact.ts'
import { type RedactionKind, redactDocument, redactLog } from '../../core/redact-log.ts'
import { sha256 } from '../../core/hash.ts'
import { version } from '../../core/version.ts'

/** How often each kind of secret was redacted. */
export type Tally = Partial<Record<RedactionKind, number>>

interface Member {
  readonly name: string
  readonly text: string
  readonly redacted: Tally
}

/** What goes into the archive. Whatever comes in is redacted here, even if it was before. */
export interface Members {
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  document(name: string, text: string): void
  /** Lines of a log; what was redacted before is counted. */
  log(name: string, text: string, redacted: Tally): void
  leaveOut(name: string, why: string): void
  /** All of them, the manifest first. */
  all(): readonly Member[]
  /** What is not in it, and why. */
  leftOut(): readonly { readonly name: string; readonly why: string }[]
}

export const createMembers = (createdAt: number): Members => {
  const members: Member[] = []
  const left: { name: string; why: string }[] = []
  const add = (
    name: string,
    redacted: Tally,
    apply: (count: (kind: RedactionKind) => void) => string,
  ): void => {
    const tally = { ...redacted }
    const text = redact(
      apply((kind) => {
        tally[kind] = (tally[kind] ?? 0) + 1
      }),
    )
    members.push({ name, text, redacted: tally })
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
    all: () => [
      { name: 'manifest.json', text: manifest(createdAt, members, left), redacted: {} },
      ...members,
    ],
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
