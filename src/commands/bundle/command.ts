import type { RedactionKind } from '../../core/redact-log.ts'
import { checkBundleFile, gatherBundle, type Members, stampOf, writeBundle } from './bundle.ts'
import { figure, joinList, size } from '../../core/format.ts'
import { pairs, wrap } from '../../cli/terminal/layout.ts'
import { createStyle, type Style } from '../../cli/terminal/style.ts'
import type { Finding } from '../../health/finding.ts'
import type { NodeSnapshot } from '../../health/snapshot.ts'
import { summarize } from '../../health/summary.ts'
import { evaluateHealth } from '../../health/verdict.ts'
import { factLines, findingLines, verdictLine } from '../../cli/terminal/verdict.ts'
import { resolve } from 'node:path'
import { Command } from 'commander'
import type { Config } from '../../config/schema.ts'
import { renderSettings } from '../../config/render.ts'
import { ParseError, SourceError } from '../../core/errors.ts'
import { hour } from '../../core/units.ts'
import { preflight } from '../check/preflight.ts'
import { configOf, configOptions, type ConfigOptions } from '../../cli/config-options.ts'
import type { ExitCode, Io } from '../../cli/io.ts'
import { readTime } from '../../cli/option-values.ts'
import { createProgress } from '../../cli/terminal/progress.ts'
import { readFromNode, readSnapshot } from '../shared/read-snapshot.ts'

interface Written {
  readonly file: string
  readonly bytes: number
  readonly members: Members
}

/** The written file, missing members, and what to do before it is sent. */
const renderWritten = ({ file, bytes, members }: Written, style: Style): string =>
  lines([
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
  lines([
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
      left.map(({ name, why }) => [name, style.plain(why.split('\n')[0] ?? '')]),
      style,
    ),
  ]
}

const lines = (all: readonly string[]): string => all.map((line) => `${line}\n`).join('')

/** For a file: no colour, lines of 100 columns. */
const PAGE: Style = {
  width: 100,
  isUnicode: false,
  paint: (_, text) => text,
  sign: (tone) => (tone === 'bad' ? 'x' : '-'),
  plain: (text) => text,
}

/** The output of `check` as a text. */
const verdictText = (snapshot: NodeSnapshot, more: readonly Finding[]): string => {
  const verdict = evaluateHealth(snapshot, more)
  return [
    verdictLine(verdict, PAGE),
    '',
    ...findingLines(verdict.findings, PAGE),
    'Facts',
    ...factLines(summarize(snapshot), PAGE),
    '',
  ].join('\n')
}

interface Options extends ConfigOptions {
  readonly output?: string
  readonly since?: number
  readonly logs: boolean
  readonly list?: true
}

/** `chain-agent bundle`: one archive for support, with secrets redacted. */
export const bundleCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('bundle'))
    .option('-o, --output <file>', 'the archive; default: chain-agent-bundle-TIME.tar.gz in the current directory')
    .option(
      '-S, --since <time>',
      'start of the logs, at most 5,000 lines or 2 MiB per service; default: an hour ago',
      readTime(io.clock),
    )
    .option('--no-logs', 'without the logs of the services')
    .option('--list', 'print the contents, and write nothing')
    .addHelpText(
      'after',
      `
Contains the health verdict with its evidence, the readings of all collectors, the metrics, the effective
configuration, versions, the state of the systemd units, the agent's events, and the newest lines of each
service's log. Never contains key files, the environment file, or commands and environment of units.
Everything that looks like a secret is redacted, and the manifest counts the redactions of each class. Nothing is
sent: review the archive before you send it. Only you can read the file, and no file is overwritten.

Examples:
  chain-agent bundle
  chain-agent bundle --since 6h --output /tmp/for-support.tar.gz
  chain-agent bundle --list --no-logs`,
    )
    .action(async (options: Options) => {
      const { config, settings } = configOf(io, options)
      const { clock, signal, overrides } = io
      const path = io.env['PATH'] ?? '/usr/bin:/bin'
      const fileAt = (at: number): string => resolve(options.output ?? `chain-agent-bundle-${stampOf(at)}.tar.gz`)
      // Fail early: gathering takes seconds.
      if (!options.list) await checkBundleFile(fileAt(clock.now()))
      const snapshot = await snapshotOf(io, options, config)
      const progress = createProgress(io)
      try {
        progress.show('Checking the host')
        const more = await preflight({ config, clock, path, signal, snapshot, ...overrides })
        const members = await gatherBundle({
          config,
          clock,
          path,
          signal,
          snapshot,
          texts: {
            'verdict.txt': verdictText(snapshot, more),
            'config.yaml': `${renderSettings(settings)}\n`,
          },
          logsSince: options.logs ? (options.since ?? clock.now() - hour) : null,
          onStep: (step) => {
            progress.show(`Gathering ${step}`)
          },
          ...overrides,
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
        if (!signal.aborted) throw error
        progress.end()
        io.stderr.write('Interrupted; nothing was written.\n')
        exit(1)
      } finally {
        progress.end()
      }
    })

/** Reads from the agent, or from the node if no agent answers. */
const snapshotOf = async (io: Io, options: Options, config: Config): Promise<NodeSnapshot> => {
  try {
    return (await readSnapshot(io, options)).snapshot
  } catch (error) {
    if (error instanceof SourceError || error instanceof ParseError) return readFromNode(io, config)
    throw error
  }
}
