import { redact } from '../../core/redact.ts'
import { type Struck, strikeDocument, strikeLog } from '../../core/redact-log.ts'
import { sha256 } from '../../core/sum.ts'
import { version } from '../../version.ts'

/** How often each kind of secret was struck out. */
export type Tally = Partial<Record<Struck, number>>

interface Member {
  readonly name: string
  readonly text: string
  readonly struckOut: Tally
}

/** What goes into the archive. Whatever comes in goes through the redaction here, struck out before or not. */
export interface Members {
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  document(name: string, text: string): void
  /** Lines of a log; what has been struck out of them already is counted. */
  log(name: string, text: string, struckOut: Tally): void
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
    struckOut: Tally,
    strike: (count: (kind: Struck) => void) => string,
  ): void => {
    const tally = { ...struckOut }
    const text = redact(
      strike((kind) => {
        tally[kind] = (tally[kind] ?? 0) + 1
      }),
    )
    members.push({ name, text, struckOut: tally })
  }
  return {
    createdAt,
    document: (name, text) => {
      add(name, {}, (count) => strikeDocument(text, count))
    },
    log: (name, text, struckOut) => {
      add(name, struckOut, (count) =>
        text
          .split('\n')
          .map((line) => strikeLog(line, count))
          .join('\n'),
      )
    },
    leaveOut: (name, why) => {
      left.push({ name, why: redact(strikeDocument(why)) })
    },
    all: () => [
      { name: 'manifest.json', text: manifest(createdAt, members, left), struckOut: {} },
      ...members,
    ],
    leftOut: () => left,
  }
}

const manifest = (at: number, members: readonly Member[], leftOut: readonly object[]): string => {
  const files = members.map(({ name, text, struckOut }) => ({
    name,
    bytes: Buffer.byteLength(text),
    sha256: sha256(text),
    struckOut,
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
