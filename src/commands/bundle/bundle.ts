import { redact } from '../../core/redaction/redact.ts'
import { redactExposition, redactFields } from '../../core/redaction/redact-data.ts'
import { redactDocument, type RedactionCount, type RedactionKind, redactLog } from '../../core/redaction/redact-log.ts'
import { sha256 } from '../../core/hash.ts'
import { revision, version } from '../../core/package.ts'
import { release, version as kernelVersion } from 'node:os'
import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../core/clock.ts'
import { eventAsJson } from '../../domain/event.ts'
import { asError } from '../../core/errors.ts'
import { second } from '../../core/units.ts'
import { packArchive, writeNewFile } from '../../sources/archive.ts'
import { createExec, createExecWithTimeouts } from '../../sources/exec.ts'
import type { NodeSnapshot } from '../../health/snapshot.ts'
import { incidentDirectory, listIncidents } from '../../sources/incident-files.ts'
import { readEvents } from '../events/events.ts'
import { readIncident } from '../incident/incidents.ts'
import { findUnits } from '../shared/log-units.ts'
import type { SourceContext } from '../../terminal/io.ts'
import { jsonText, linesText } from '../../terminal/output.ts'
import { toJson } from '../../core/json.ts'
import { renderSettings } from '../../config/render.ts'
import type { Setting } from '../../config/load.ts'
import { readLogText } from '../../agent/log-text.ts'
import { UNIT_PROPERTIES } from '../../parsers/systemctl.ts'

/** How often each kind of secret was redacted. */
type RedactionCounts = Partial<Record<RedactionKind, number>>

interface Member {
  readonly name: string
  readonly text: string
  readonly redacted: RedactionCounts
}

/** A text without its secrets, each of which is reported. */
type Redacting = (count: RedactionCount) => string

const documentOf =
  (text: string): Redacting =>
  (count) =>
    redact(redactDocument(text, count))

/** Redacted value by value: a mark in the text of JSON or YAML could make it unreadable. */
const jsonOf =
  (value: object): Redacting =>
  (count) =>
    jsonText(redactFields(toJson(value), count))

const configOf =
  (settings: readonly Setting[]): Redacting =>
  (count) => {
    const redacted = settings.map(({ path, value, origin }) => ({
      path,
      value: redactFields(value, count, path.split('.').at(-1)),
      origin: redact(origin),
    }))
    return `${renderSettings(redacted)}\n`
  }

const logOf =
  (text: string): Redacting =>
  (count) =>
    text
      .split('\n')
      .map((line) => redact(redactLog(line, count)))
      .join('\n')

export type Members = ReturnType<typeof createMembers>

/** The members of the archive. Every text is redacted here, even if it was redacted before. */
const createMembers = (createdAt: number) => {
  const members: Member[] = []
  const left: { readonly name: string; readonly why: string }[] = []
  return {
    /** Milliseconds since the epoch. */
    createdAt,
    /** Adds what `write` returns, which reports its redactions; `before` are those that were counted earlier. */
    add: (name: string, write: Redacting, before: RedactionCounts = {}): void => {
      const redacted = { ...before }
      const text = write((kind) => {
        redacted[kind] = (redacted[kind] ?? 0) + 1
      })
      members.push({ name, text, redacted })
    },
    leaveOut: (name: string, why: string): void => {
      left.push({ name, why: redact(redactDocument(why)) })
    },
    /** All members, the manifest first. */
    all: (): readonly Member[] => [
      { name: 'manifest.json', text: manifest(createdAt, members, left), redacted: {} },
      ...members,
    ],
    /** Missing members, with the reason. */
    leftOut: (): readonly { readonly name: string; readonly why: string }[] => left,
  }
}

const manifest = (at: number, members: readonly Member[], leftOut: readonly object[]): string => {
  const files = members.map(({ name, text, redacted }) => ({
    name,
    bytes: Buffer.byteLength(text),
    sha256: sha256(text),
    redacted,
  }))
  return jsonText({ version: 1, createdAt: new Date(at).toISOString(), agent: version, files, leftOut })
}

interface Options extends SourceContext {
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
export const gatherBundle = async (options: Options): Promise<Members> => {
  const { config, clock, path, signal, snapshot, onStep } = options
  const exec = createExecWithTimeouts(options.exec ?? createExec({ clock, path }), clock)
  const members = createMembers(clock.now())
  const attempt = async (name: string, make: () => Promise<Redacting>): Promise<void> => {
    signal.throwIfAborted()
    onStep(name)
    try {
      members.add(name, await make())
    } catch (error) {
      members.leaveOut(name, asError(error).message)
    }
  }
  /** Adds the newest lines of a service's log. */
  const addLog = async (label: string, range: Readonly<{ unit: string; since: number }>): Promise<void> => {
    const name = `logs/${label}.log`
    const redacted: RedactionCounts = {}
    try {
      const { lines } = await readLogText({ exec, clock, signal }, { ...range, ...LOG_LIMITS }, (kind) => {
        redacted[kind] = (redacted[kind] ?? 0) + 1
      })
      if (lines.length === 0) members.leaveOut(name, `the journal has no line of ${range.unit}`)
      else members.add(name, logOf(linesText(lines)), redacted)
    } catch (error) {
      signal.throwIfAborted()
      members.leaveOut(name, asError(error).message)
    }
  }
  const run = async (command: string, args: readonly string[]): Promise<string> =>
    (await exec.run({ command, args }, signal)).stdout
  try {
    members.add('verdict.txt', documentOf(options.verdict))
    members.add('config.yaml', configOf(options.settings))
    if (snapshot) {
      const { metrics, readings } = await snapshot.export()
      members.add('status.json', jsonOf(statusOf(snapshot, readings)))
      members.add('metrics.txt', (count) => redactExposition(metrics, count))
    }
    await attempt('versions.txt', async () => {
      const tools = await Promise.allSettled(['systemctl', 'journalctl'].map((tool) => run(tool, ['--version'])))
      return documentOf(linesText([...ownVersions(), ...tools.map(firstLineOf)]))
    })
    const units = await findUnits({ config, exec, path, signal }).catch((error: unknown) => {
      members.leaveOut('units.txt', asError(error).message)
      if (options.logsSince !== null) members.leaveOut('logs', 'the units were not found')
      return new Map<string, string>()
    })
    if (units.size > 0) {
      const names = [...units.values(), ...timersOf(config, units)]
      const chosen = `--property=${UNIT_FACTS.join(',')}`
      await attempt('units.txt', async () => documentOf(await run('systemctl', ['show', chosen, ...names])))
    }
    await attempt('events.json', async () => {
      const { events, oldestAt, origin, total } = await readEvents(options)
      const since = oldestAt === null ? null : new Date(oldestAt).toISOString()
      return jsonOf({ origin, total, oldestAt: since, events: events.slice(-MAX_EVENTS).map(eventAsJson) })
    })
    const directory = incidentDirectory(config.state.directory)
    const incidents = await listIncidents(directory).catch((error: unknown) => {
      members.leaveOut('incidents', asError(error).message)
      return []
    })
    for (const { id } of incidents.slice(-MAX_INCIDENTS)) {
      await attempt(`incidents/${id}.json`, async () => {
        const { journals, ...incident } = await readIncident(directory, id)
        return jsonOf(options.logsSince === null ? incident : { ...incident, journals })
      })
    }
    if (options.logsSince !== null) {
      for (const [label, unit] of units) {
        signal.throwIfAborted()
        onStep(`the log of ${unit}`)
        await addLog(label, { unit, since: options.logsSince })
      }
    }
    return members
  } finally {
    if (!options.exec) exec.killAll()
  }
}

/** Compresses the members and writes the archive atomically. Returns its size in bytes; throws a SourceError. */
export const writeBundle = async (file: string, members: Members, clock: Clock): Promise<number> => {
  const stem = `chain-agent-bundle-${stampOf(members.createdAt)}`
  const texts = members.all().map(({ name, text }) => ({ name: `${stem}/${name}`, text }))
  const bytes = await packArchive(texts, clock.now())
  await writeNewFile(file, bytes)
  return bytes.length
}

/** A timestamp for a file name, to the second. */
export const stampOf = (at: number): string => new Date(at - (at % second)).toISOString().replaceAll(/[-:]|\.\d+/g, '')

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
  result.status === 'fulfilled'
    ? (result.value.split('\n')[0] ?? '')
    : (asError(result.reason).message.split('\n')[0] ?? '')

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
