import { type RedactionKind } from '../../core/redaction/redact-log.ts'
import { type Members } from './bundle.ts'
import { figure, size, joinList } from '../../core/format.ts'
import { sanitize } from '../../core/redaction/redact.ts'
import { linesText } from '../../terminal/output.ts'
import { pairs, wrap, type Style } from '../../terminal/style.ts'
import { type Finding } from '../../health/finding.ts'
import { type NodeSnapshot } from '../../health/snapshot.ts'
import { summarize } from '../../health/summary.ts'
import { diagnose } from '../../health/diagnosis.ts'
import { checkLines } from '../../terminal/diagnosis.ts'

interface Written {
  readonly file: string
  readonly bytes: number
  readonly members: Members
}

/** The written file, missing members, and what to do before it is sent. */
export const renderWritten = ({ file, bytes, members }: Written, style: Style): string =>
  linesText([
    style.paint('strong', `Wrote ${file}`),
    ...wrap(
      `${size(bytes)}, ${figure(members.all().length)} files, readable only by you (mode 0600). Nothing was sent.`,
      style,
    ),
    ...redactionLines(members, style),
    ...leftOut(members, style),
    ...wrap(`Review it before you send it: tar -xzf ${file}`, style),
  ])

/** The same for --list, which writes nothing. */
export const renderContents = (members: Members, style: Style): string =>
  linesText([
    style.paint('strong', 'Contents:'),
    ...pairs(
      members.all().map(({ name, text }) => [name, size(Buffer.byteLength(text))]),
      style,
    ),
    ...redactionLines(members, style),
    ...leftOut(members, style),
  ])

const redactionLines = (members: Members, style: Style): readonly string[] => {
  const total = new Map<string, number>()
  for (const member of members.all()) {
    for (const [kind, count] of Object.entries(member.redacted)) {
      total.set(kind, (total.get(kind) ?? 0) + count)
    }
  }
  const counts = [...total].map(([kind, count]) => {
    const [one, many] = CLASSES[kind] ?? [kind, kind]
    return `${figure(count)} ${count === 1 ? one : many}`
  })
  return wrap(counts.length === 0 ? 'Nothing was redacted.' : `Redacted: ${joinList(counts)}.`, style)
}

/** The classes of redactions, singular and plural. */
const CLASSES: Readonly<Record<string, readonly [string, string]>> = {
  address: ['URL path, query or login', 'URL paths, queries or logins'],
  phrase: ['recovery phrase', 'recovery phrases'],
  labelled: ['value of a password, token or key', 'values of passwords, tokens or keys'],
  credentials: ['Bearer or Basic credential', 'Bearer or Basic credentials'],
  'hex digits': ['long hexadecimal string', 'long hexadecimal strings'],
  'long word': ['high-entropy string', 'high-entropy strings'],
} satisfies Record<RedactionKind, readonly [string, string]>

const leftOut = (members: Members, style: Style): readonly string[] => {
  const left = members.leftOut()
  if (left.length === 0) return []
  return [
    'Missing:',
    ...pairs(
      left.map(({ name, why }) => [name, why.split('\n')[0] ?? '']),
      style,
    ),
  ]
}

/** For a file: no colour, lines of 100 columns. */
const PAGE: Style = {
  width: 100,
  isUnicode: false,
  hasColor: false,
  paint: (_, text) => text,
  sign: (tone) => (tone === 'bad' ? 'x' : '-'),
  plain: (text) => text,
}

/** The output of `check` as a text. */
export const verdictText = (snapshot: NodeSnapshot, more: readonly Finding[]): string =>
  sanitize(linesText(checkLines({ diagnosis: diagnose(snapshot), setUp: more, facts: summarize(snapshot) }, PAGE)))
