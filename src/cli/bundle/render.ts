import type { Members } from '../../tasks/bundle/members.ts'
import { figure, list } from '../../verdict/words.ts'
import { pairs, wrap } from '../page/layout.ts'
import type { Style } from '../page/style.ts'

interface Written {
  readonly file: string
  readonly bytes: number
  readonly members: Members
}

/** What was written, what is not in it, and what to do before it is sent. */
export const renderWritten = ({ file, bytes, members }: Written, style: Style): string =>
  lines([
    style.paint('strong', `Wrote ${file}`),
    ...wrap(
      `${figure(Math.ceil(bytes / 1024))} kB, ${figure(members.all().length)} files, for your eyes only (mode 0600). Nothing was sent.`,
      style,
    ),
    ...struckOut(members, style),
    ...leftOut(members, style),
    ...wrap(`Look through it before you send it: tar -xzf ${file}`, style),
  ])

/** The same, where nothing is written. */
export const renderContents = (members: Members, style: Style): string =>
  lines([
    style.paint('strong', 'It would hold:'),
    ...pairs(
      members.all().map(({ name, text }) => [name, `${figure(Buffer.byteLength(text))} bytes`]),
      style,
    ),
    ...struckOut(members, style),
    ...leftOut(members, style),
  ])

const struckOut = (members: Members, style: Style): readonly string[] => {
  const total = new Map<string, number>()
  for (const member of members.all()) {
    for (const [kind, count] of Object.entries(member.struckOut)) {
      total.set(kind, (total.get(kind) ?? 0) + count)
    }
  }
  const said = [...total].map(([kind, count]) => `${figure(count)} ${WORDS[kind] ?? kind}`)
  return wrap(
    said.length === 0 ? 'Nothing had to be struck out.' : `Struck out: ${list(said)}.`,
    style,
  )
}

const WORDS: Readonly<Record<string, string>> = {
  address: 'parts of addresses',
  phrase: 'phrases',
  labelled: 'behind a name of a secret',
  credentials: 'credentials',
  'hex digits': 'runs of hex digits',
  'long word': 'long words of mixed signs',
}

const leftOut = (members: Members, style: Style): readonly string[] => {
  const left = members.leftOut()
  if (left.length === 0) return []
  return [
    'Not in it:',
    ...pairs(
      left.map(({ name, why }) => [name, style.plain(why.split('\n')[0] ?? '')]),
      style,
    ),
  ]
}

const lines = (all: readonly string[]): string => all.map((line) => `${line}\n`).join('')
