import { resolve } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { ParseError, SourceError } from '../../core/errors.ts'
import { hour } from '../../core/units.ts'
import { gatherBundle, stampOf, writeBundle, type Members } from './bundle.ts'
import { checkNewFile } from '../../sources/archive.ts'
import { preflight } from '../check/preflight.ts'
import type { NodeSnapshot } from '../../health/snapshot.ts'
import { configOf } from '../../terminal/config.ts'
import type { ConfigOptions } from '../../terminal/config-options.ts'
import { type Io, type ActionContext, sourceContext } from '../../terminal/io.ts'
import { createProgress } from '../../terminal/progress.ts'
import { createStyle, pairs, wrap, type Style } from '../../terminal/style.ts'
import { readFromNode, readSnapshot } from '../shared/read-snapshot.ts'
import type { RedactionKind } from '../../core/redaction/redact-log.ts'
import { figure, size, joinList } from '../../core/format.ts'
import { sanitize } from '../../core/redaction/redact.ts'
import { linesText } from '../../terminal/output.ts'
import type { Finding } from '../../health/finding.ts'
import { summarize } from '../../health/summary.ts'
import { diagnose } from '../../health/diagnosis.ts'
import { checkLines } from '../../terminal/diagnosis.ts'

interface Options extends ConfigOptions {
  readonly output?: string
  readonly since?: number
  readonly logs: boolean
  readonly list?: true
}

export const bundle = async ({ io, exit, options }: ActionContext<Options>): Promise<void> => {
  const { config, settings } = configOf(io, options)
  const { clock } = io
  const source = sourceContext(io)
  const fileAt = (at: number): string => resolve(options.output ?? `chain-agent-bundle-${stampOf(at)}.tar.gz`)
  // Fail early: gathering takes seconds.
  if (!options.list) await checkNewFile(fileAt(clock.now()))
  const snapshot = await snapshotOf(io, options, config)
  const progress = createProgress(io)
  try {
    progress.show('Checking the host')
    const more = await preflight({ config, snapshot, ...source })
    const members = await gatherBundle({
      config,
      snapshot,
      ...source,
      settings,
      verdict: verdictText(snapshot, more),
      logsSince: options.logs ? (options.since ?? clock.now() - hour) : null,
      onStep: (step) => {
        progress.show(`Gathering ${step}`)
      },
    })
    progress.end()
    const style = createStyle(io)
    if (options.list) io.stdout.write(renderContents(members, style))
    else {
      const file = fileAt(members.createdAt)
      const bytes = await writeBundle(file, members, clock)
      io.stdout.write(renderWritten({ file, bytes, members }, style))
    }
    exit(0)
  } catch (error) {
    if (!io.signal.aborted) throw error
    progress.end()
    io.stderr.write('Interrupted; nothing was written.\n')
    exit(1)
  } finally {
    progress.end()
  }
}

/** Reads from the agent, or from the node if no agent answers. */
const snapshotOf = async (io: Io, options: Options, config: Config): Promise<NodeSnapshot> => {
  try {
    return (await readSnapshot(io, options)).snapshot
  } catch (error) {
    if (error instanceof SourceError || error instanceof ParseError) return readFromNode(io, config)
    throw error
  }
}

interface Written {
  readonly file: string
  readonly bytes: number
  readonly members: Members
}

/** The written file, missing members, and what to do before it is sent. */
const renderWritten = ({ file, bytes, members }: Written, style: Style): string =>
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
const renderContents = (members: Members, style: Style): string =>
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
const verdictText = (snapshot: NodeSnapshot, more: readonly Finding[]): string =>
  sanitize(linesText(checkLines({ diagnosis: diagnose(snapshot), setUp: more, facts: summarize(snapshot) }, PAGE)))
