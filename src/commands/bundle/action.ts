import { resolve } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { asError } from '../../core/errors.ts'
import { hour, second } from '../../core/units.ts'
import { checkNewFile, packArchive, writeNewFile } from '../../sources/archive.ts'
import { preflight } from '../check/preflight.ts'
import type { NodeSnapshot } from '../../health/snapshot.ts'
import type { ConfiguredContext } from '../../terminal/configured-command.ts'
import { InterruptedError, type SourceContext } from '../../terminal/io.ts'
import { createStyle, inColumns, type Style, withLayout } from '../../terminal/style.ts'
import { readSnapshot } from '../shared/read-snapshot.ts'
import { type RedactionKind, redactDocument, type RedactionCount, redactLog } from '../../core/redaction/redact-log.ts'
import { figure, size, joinList } from '../../core/format.ts'
import { sanitize, redact } from '../../core/redaction/redact.ts'
import { linesText, jsonText } from '../../terminal/output.ts'
import type { Finding } from '../../health/finding.ts'
import { createView } from '../../health/sections/section.ts'
import { overviewRows } from '../../health/sections/sections.ts'
import { checkLines } from '../../terminal/diagnosis.ts'
import { redactExposition, redactFields } from '../../core/redaction/redact-data.ts'
import { sha256 } from '../../core/hash.ts'
import { revision, version } from '../../core/package.ts'
import { release, version as kernelVersion } from 'node:os'
import { incidentDirectory, listIncidents } from '../../sources/incident-files.ts'
import { eventsDocument, readEvents } from '../events/events.ts'
import { readIncident } from '../incident/action.ts'
import { logUnits } from '../../config/log-units.ts'
import { withHost } from '../shared/with-host.ts'
import { toJson } from '../../core/json.ts'
import { renderSettings } from '../../config/render.ts'
import type { Setting } from '../../config/load.ts'
import { readLogText } from '../../agent/log-text.ts'
import { UNIT_PROPERTIES } from '../../parsers/systemctl.ts'

interface Options {
  readonly output?: string
  readonly since?: number
  readonly logs: boolean
}

export const bundle = async (context: ConfiguredContext<Options>): Promise<void> => {
  const { io, exit, options, config, settings, host, gather } = context
  const { clock } = io
  const fileAt = (at: number): string => resolve(options.output ?? `chain-agent-bundle-${stampOf(at)}.tar.gz`)
  // Fail early: gathering takes seconds.
  await checkNewFile(fileAt(clock.now()))
  const interruption = new InterruptedError('Interrupted; nothing was written.')
  const { createdAt, members, leftOut } = await gather(async (show) => {
    const snapshot = await readSnapshot(io, config)
    show('Checking the host')
    const setUp = await preflight({ ...host, snapshot })
    return gatherBundle({
      ...host,
      snapshot,
      settings,
      verdict: verdictText(snapshot, setUp),
      logsSince: options.logs ? (options.since ?? clock.now() - hour) : null,
      onStep: (step) => show(`Gathering ${step}`),
    })
  }, interruption)
  const style = createStyle(io)
  const file = fileAt(createdAt)
  const stem = `chain-agent-bundle-${stampOf(createdAt)}`
  const archive = await packArchive(
    members.map(({ name, text }) => ({ name: `${stem}/${name}`, text })),
    clock.now(),
  )
  await writeNewFile(file, archive)
  const written = `${size(archive.length)}, ${figure(members.length)} files, readable only by you (mode 0600).`
  io.stdout.write(
    linesText([
      style.paint('strong', `Wrote ${file}`),
      ...style.wrap(`${written} Nothing was sent.`),
      ...redactionLines(members, style),
      ...missingLines(leftOut, style),
      ...style.wrap(`Review it before you send it: tar -xzf ${file}`),
    ]),
  )
  exit(0)
}

const redactionLines = (members: readonly Member[], style: Style): readonly string[] => {
  const total = new Map<string, number>()
  for (const { redacted } of members) {
    for (const [kind, count] of Object.entries(redacted)) {
      total.set(kind, (total.get(kind) ?? 0) + count)
    }
  }
  const counts = [...total].map(([kind, count]) => {
    const [one, many] = CLASSES[kind] ?? [kind, kind]
    return `${figure(count)} ${count === 1 ? one : many}`
  })
  return style.wrap(counts.length === 0 ? 'Nothing was redacted.' : `Redacted: ${joinList(counts)}.`)
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

/** A member that could not be gathered. */
type LeftOut = Readonly<Record<'name' | 'why', string>>

const missingLines = (left: readonly LeftOut[], style: Style): readonly string[] =>
  left.length === 0 ? [] : ['Missing:', ...style.pairs(left.map(({ name, why }) => [name, why.split('\n')[0] ?? '']))]

/** For a file: no colour, lines of 100 columns. */
const PAGE = withLayout({ ...inColumns(100), sign: (tone) => (tone === 'bad' ? 'x' : '-'), plain: (text) => text })

/** The output of `check` as a text. */
const verdictText = (snapshot: NodeSnapshot, setUp: readonly Finding[]): string => {
  const view = createView(snapshot)
  return sanitize(linesText(checkLines({ diagnosis: view.diagnosis, setUp, facts: overviewRows(view) }, PAGE)))
}

interface Member {
  readonly name: string
  /** Redacted here, even if it was redacted before. */
  readonly text: string
  /** How often each kind of secret was redacted. */
  readonly redacted: Partial<Record<RedactionKind, number>>
}

const documentOf = (text: string, count: RedactionCount): string => redact(redactDocument(text, count))

/** Redacted value by value: a mark in the text of JSON or YAML could make it unreadable. */
const jsonOf = (value: object, count: RedactionCount): string => jsonText(redactFields(toJson(value), count))

const settingsOf = (settings: readonly Setting[], count: RedactionCount): string => {
  const redacted = settings.map(({ path, value, origin }) => ({
    path,
    value: redactFields(value, count, path.split('.').at(-1)),
    origin: redact(origin),
  }))
  return `${renderSettings(redacted)}\n`
}

const manifest = (at: number, members: readonly Member[], missing: readonly LeftOut[]): string => {
  const files = members.map(({ name, text, redacted }) => ({
    name,
    bytes: Buffer.byteLength(text),
    sha256: sha256(text),
    redacted,
  }))
  return jsonText({ version: 1, createdAt: new Date(at).toISOString(), agent: version, files, leftOut: missing })
}

interface BundleSources extends SourceContext {
  readonly config: Config
  /** The state of the node; null if it could not be read. */
  readonly snapshot: NodeSnapshot | null
  /** The output of `check`. */
  readonly verdict: string
  readonly settings: readonly Setting[]
  /** The start of the logs, in milliseconds since the epoch; null for no logs. */
  readonly logsSince: number | null
  /** Receives the current step. */
  readonly onStep: (step: string) => void
}

/** The number of newest events in the bundle. */
const MAX_EVENTS = 1000
/** The number of newest incidents in the bundle. */
const MAX_INCIDENTS = 3
const LOG_LIMITS = { keep: 'newest', maxLines: 5000, maxBytes: 2 * 1024 * 1024 } as const

/** Gathers the members of the archive, with secrets redacted. Errors become entries of the manifest. */
export const gatherBundle = (options: BundleSources) =>
  withHost(options, async (exec, readPrefix) => {
    const { config, clock, signal, snapshot, onStep, logsSince: since } = options
    const createdAt = clock.now()
    const members: Member[] = []
    const left: LeftOut[] = []
    const leaveOut = (name: string, error: unknown): void => {
      left.push({ name, why: redact(redactDocument(asError(error).message)) })
    }
    /** `make` reports what it redacts. */
    const add = async (
      name: string,
      make: (count: RedactionCount) => Promise<string> | string,
      step = name,
    ): Promise<void> => {
      signal.throwIfAborted()
      onStep(step)
      const redacted: Member['redacted'] = {}
      const count: RedactionCount = (kind) => {
        redacted[kind] = (redacted[kind] ?? 0) + 1
      }
      try {
        members.push({ name, text: await make(count), redacted })
      } catch (error) {
        signal.throwIfAborted()
        leaveOut(name, error)
      }
    }
    const run = async (command: string, args: readonly string[]): Promise<string> =>
      (await exec.run({ command, args }, signal)).stdout

    await add('verdict.txt', (count) => documentOf(options.verdict, count))
    await add('config.yaml', (count) => settingsOf(options.settings, count))
    if (snapshot) {
      const { metrics, readings } = await snapshot.export()
      await add('status.json', (count) => jsonOf(statusOf(snapshot, readings), count))
      await add('metrics.txt', (count) => redactExposition(metrics, count))
    }
    await add('versions.txt', async (count) => {
      const tools = await Promise.allSettled(['systemctl', 'journalctl'].map((tool) => run(tool, ['--version'])))
      return documentOf(linesText([...ownVersions(), ...tools.map(firstLineOf)]), count)
    })
    const units = await readPrefix(signal)
      .then(({ word }) => logUnits(config, word))
      .catch((error: unknown) => {
        leaveOut('units.txt', error)
        if (since !== null) leaveOut('logs', 'the units were not found')
        return new Map<string, string>()
      })
    if (units.size > 0) {
      const names = [...units.values(), ...timersOf(config, units)]
      const chosen = `--property=${UNIT_FACTS.join(',')}`
      await add('units.txt', async (count) => documentOf(await run('systemctl', ['show', chosen, ...names]), count))
    }
    await add('events.json', async (count) => {
      const page = await readEvents(options)
      return jsonOf(eventsDocument(page, page.events.slice(-MAX_EVENTS)), count)
    })
    const directory = incidentDirectory(config.state.directory)
    const incidents = await listIncidents(directory).catch((error: unknown) => {
      leaveOut('incidents', error)
      return []
    })
    for (const { id } of incidents.slice(-MAX_INCIDENTS)) {
      await add(`incidents/${id}.json`, async (count) => {
        const { journals, ...incident } = await readIncident(directory, id)
        return jsonOf(since === null ? incident : { ...incident, journals }, count)
      })
    }
    for (const [label, unit] of units) {
      if (since === null) break
      const newest = async (count: RedactionCount): Promise<string> => {
        const { lines } = await readLogText({ exec, clock, signal }, { unit, since, ...LOG_LIMITS }, count)
        if (lines.length === 0) throw new Error(`the journal has no line of ${unit}`)
        return linesText(lines.map((line) => redact(redactLog(line, count))))
      }
      await add(`logs/${label}.log`, newest, `the log of ${unit}`)
    }
    const text = manifest(createdAt, members, left)
    /** All members, the manifest first. */
    return { createdAt, members: [{ name: 'manifest.json', text, redacted: {} }, ...members], leftOut: left }
  })

/** A timestamp for a file name, to the second. */
const stampOf = (at: number): string => new Date(at - (at % second)).toISOString().replaceAll(/[-:]|\.\d+/g, '')

const statusOf = (
  { at, origin, prefix, collectors, ...agent }: NodeSnapshot,
  readings: Readonly<Record<string, unknown>>,
): object => ({
  at: new Date(at).toISOString(),
  origin,
  agent: agent.version,
  prefix,
  collectors: Object.fromEntries(
    collectors.map(({ name, help, enabled, up, lastSuccessAt, error }) => [
      name,
      { help, enabled, up, lastSuccessAt, error: error?.message, reading: readings[name] },
    ]),
  ),
})

const ownVersions = (): readonly string[] => [
  `chain-agent ${version} (revision ${revision.slice(0, 12)})`,
  `node ${process.versions.node}`,
  `kernel ${release()} ${kernelVersion()}`,
]

const firstLineOf = (result: PromiseSettledResult<string>): string =>
  (result.status === 'fulfilled' ? result.value : asError(result.reason).message).split('\n')[0] ?? ''

/** The timers, with the name prefix of the unit of consensus. */
const timersOf = ({ services }: Config, units: ReadonlyMap<string, string>): readonly string[] => {
  const [word = 'chain'] = (units.get('cruft') ?? units.get('bft') ?? '').split('-')
  return Object.values(services.timers).map((unit) => unit.replaceAll('{prefix}', word))
}

/** Unit properties in the bundle. Commands and environment are left out: units pass passwords there. */
const UNIT_FACTS = [
  ...UNIT_PROPERTIES,
  'Description',
  'FragmentPath',
  'DropInPaths',
  'NeedDaemonReload',
  'Restart',
  'RestartUSec',
  'User',
  'LimitNOFILE',
  'LimitCORE',
  'MemoryMax',
  'MemoryPeak',
  'ActiveEnterTimestamp',
  'InactiveEnterTimestamp',
] as const
