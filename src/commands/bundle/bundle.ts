import { release, version as kernelVersion } from 'node:os'
import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../core/clock.ts'
import { eventAsJson } from '../../core/event.ts'
import { toJson } from '../../core/json.ts'
import { asError } from '../../core/outcome.ts'
import { second } from '../../core/units.ts'
import { checkNewFile, packArchive, writeNewFile } from '../../sources/archive.ts'
import { createExec } from '../../sources/exec.ts'
import { createExecWithTimeouts } from '../../sources/exec-with-timeouts.ts'
import type { Picture } from '../../health/picture.ts'
import { revision, version } from '../../core/version.ts'
import { gatherLog } from './log.ts'
import { createMembers, type Members } from './members.ts'
import { UNIT_FACTS } from './unit-facts.ts'
import { readEvents } from '../events/events.ts'
import { findUnits } from '../shared/log-units.ts'
import type { StandIns } from '../shared/stand-ins.ts'

interface Options extends StandIns {
  readonly config: Config
  readonly clock: Clock
  /** The search path for programs. */
  readonly path: string
  readonly signal: AbortSignal
  /** What is known of the node; null where that could not be had. */
  readonly picture: Picture | null
  /** Texts that are made elsewhere, by their names. */
  readonly texts: Readonly<Record<string, string>>
  /** From when on logs are taken, in milliseconds since the epoch; null for none of them. */
  readonly logsSince: number | null
  /** Hears what is at hand. */
  readonly onStep: (step: string) => void
}

/** The newest so many changes of state. */
const EVENTS = 1000

/** What goes into the archive, all of it without secrets. */
export const gatherBundle = async (options: Options): Promise<Members> => {
  const { config, clock, path, signal, picture, onStep } = options
  const exec = createExecWithTimeouts(options.exec ?? createExec({ clock, path }), clock)
  const members = createMembers(clock.now())
  const attempt = async (name: string, make: () => Promise<string | null>): Promise<void> => {
    signal.throwIfAborted()
    onStep(name)
    try {
      const text = await make()
      if (text !== null) members.document(name, text)
    } catch (error) {
      members.leaveOut(name, asError(error).message)
    }
  }
  const run = async (command: string, args: readonly string[]): Promise<string> =>
    (await exec.run({ command, args }, signal)).stdout
  try {
    for (const [name, text] of Object.entries(options.texts)) members.document(name, text)
    if (picture) {
      members.document('status.json', statusOf(picture))
      members.document('metrics.txt', picture.metrics)
    }
    await attempt('versions.txt', async () => {
      const tools = await Promise.allSettled(
        ['systemctl', 'journalctl'].map((tool) => run(tool, ['--version'])),
      )
      return [...ownVersions(), ...tools.map(firstLineOf)].map((line) => `${line}\n`).join('')
    })
    const units = await findUnits({ config, exec, path, signal }).catch((error: unknown) => {
      members.leaveOut('units.txt', asError(error).message)
      if (options.logsSince !== null) members.leaveOut('logs', 'the units were not found')
      return new Map<string, string>()
    })
    if (units.size > 0) {
      const names = [...units.values(), ...timersOf(config, units)]
      const chosen = `--property=${UNIT_FACTS.join(',')}`
      await attempt('units.txt', () => run('systemctl', ['show', chosen, ...names]))
    }
    await attempt('events.json', async () => {
      const { events, oldestAt, origin, total } = await readEvents(options)
      const since = oldestAt === null ? null : new Date(oldestAt).toISOString()
      return indented({
        origin,
        total,
        oldestAt: since,
        events: events.slice(-EVENTS).map(eventAsJson),
      })
    })
    if (options.logsSince !== null) {
      for (const [label, unit] of units) {
        signal.throwIfAborted()
        onStep(`the log of ${unit}`)
        const stretch = { unit, since: options.logsSince }
        await gatherLog({ exec, clock, signal }, { label, stretch, members })
      }
    }
    return members
  } finally {
    if (!options.exec) exec.killAll()
  }
}

/** Whether the archive can be written there. Throws a SourceError. */
export const checkBundleFile = (file: string): Promise<void> => checkNewFile(file)

/** Packs what was gathered and writes it, whole or not at all. The number of its bytes. */
export const writeBundle = async (
  file: string,
  members: Members,
  clock: Clock,
): Promise<number> => {
  const stem = `chain-agent-bundle-${stampOf(members.createdAt)}`
  const texts = members.all().map(({ name, text }) => ({ name: `${stem}/${name}`, text }))
  const bytes = await packArchive(texts, clock.now())
  await writeNewFile(file, bytes)
  return bytes.length
}

/** A moment as a part of a file's name, to the second. */
export const stampOf = (at: number): string =>
  new Date(at - (at % second)).toISOString().replaceAll(/[-:]|\.\d+/g, '')

const statusOf = ({ at, origin, prefix, collectors, ...agent }: Picture): string =>
  indented(
    toJson({
      at: new Date(at).toISOString(),
      told: origin,
      agent: agent.version,
      prefix,
      collectors: Object.fromEntries(collectors.map(({ name, ...told }) => [name, told])),
    }),
  )

const indented = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`

const ownVersions = (): readonly string[] => [
  `chain-agent ${version} (revision ${revision.slice(0, 12)})`,
  `node ${process.versions.node}`,
  `kernel ${release()} ${kernelVersion()}`,
]

const firstLineOf = (told: PromiseSettledResult<string>): string =>
  told.status === 'fulfilled'
    ? (told.value.split('\n')[0] ?? '')
    : (asError(told.reason).message.split('\n')[0] ?? '')

/** The maker's word stands before the unit of consensus. */
const timersOf = ({ services }: Config, units: ReadonlyMap<string, string>): readonly string[] => {
  const [word = 'chain'] = (units.get('cruft') ?? units.get('bft') ?? '').split('-')
  return Object.values(services.timers).map((unit) => unit.replaceAll('{prefix}', word))
}
