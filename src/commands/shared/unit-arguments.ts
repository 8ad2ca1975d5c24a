import type { Config } from '../../config/schema.ts'
import { NODE_ARGUMENTS } from '../../domain/node-arguments.ts'
import type { NodeSnapshot } from '../../health/snapshot.ts'
import { parseUnitFiles, UNIT_FILE_PROPERTIES, type UnitFiles } from '../../parsers/systemctl.ts'
import { commandsOf, type UnitCommand } from '../../parsers/unit-command.ts'
import type { Exec } from '../../sources/exec.ts'
import type { KeyFiles } from '../../sources/key-files.ts'

/** What the unit files of one of the three services start. */
export type ServiceArguments = Awaited<ReturnType<typeof readService>>

interface ArgumentSources {
  readonly config: Config
  readonly snapshot: NodeSnapshot
  readonly exec: Exec
  readonly files: Pick<KeyFiles, 'read' | 'look'>
  readonly signal: AbortSignal
  /** Where packages install unit files. */
  readonly packagedDirectory?: string
  /** Where drop-ins of the administrator are. */
  readonly localDirectory?: string
}

/**
 * Reads the arguments from unit files, without the values that may be secrets. Never from /proc/PID/cmdline or from
 * systemd's property ExecStart, which have the keystore password; and no program of the node is run for its help text: a
 * wrapper in its place could start a second node.
 */
export const readUnitArguments = async (sources: ArgumentSources): Promise<readonly ServiceArguments[]> => {
  const { config, snapshot } = sources
  const prefix = snapshot.prefix ?? 'chain'
  const units = Object.entries(config.services.units)
    .filter(([service]) => NODE_ARGUMENTS[service] !== undefined)
    .map(([service, unit]) => ({ service, unit: unit.replaceAll('{prefix}', prefix) }))
  if (units.length === 0) return []
  const shown = await readUnitFiles(sources, ...units.map(({ unit }) => unit))
  return Promise.all(
    units.flatMap(({ service, unit }) => {
      const found = shown.find((one) => one.unit === unit && one.isLoaded)
      return found ? [readService(service, found, sources)] : []
    }),
  )
}

/** The files of units, as systemd reports them. */
export const readUnitFiles = async (
  { exec, signal }: Pick<ArgumentSources, 'exec' | 'signal'>,
  ...units: readonly string[]
): Promise<readonly UnitFiles[]> => {
  const args = ['show', `--property=${UNIT_FILE_PROPERTIES.join(',')}`, ...units]
  return parseUnitFiles((await exec.run({ command: 'systemctl', args }, signal)).stdout)
}

const readService = async (service: string, found: UnitFiles, sources: ArgumentSources) => {
  const { unit, fragment, dropIns, isOutdated } = found
  const files = [...(fragment === null ? [] : [fragment]), ...dropIns]
  const read = (path: string) => readCommands(service, path, sources)
  const contents = await Promise.all(files.map(read))
  const unreadable = files.filter((_, at) => contents[at] === null)
  const command = unreadable.length > 0 ? null : lastOf(contents)
  const { packagedDirectory = '/usr/lib/systemd/system', localDirectory = '/etc/systemd/system' } = sources
  // A file of that name in /etc/systemd/system takes its place.
  const original = lastOf([await read(`${packagedDirectory}/${unit}`)])
  const why = unreadable.length > 0 ? `${unreadable.join(', ')} cannot be read` : 'no unit file has a command'
  return {
    service,
    /** Without its suffix. */
    unit: unit.replace(/\.service$/, ''),
    /** The unit file and its drop-ins, in the order in which systemd reads them. */
    files,
    /** Null if a file cannot be read, or none has a command. */
    command,
    /** Why there is no command. */
    problem: command === null ? why : null,
    /** Compared with the unit file of the package; null if there is none, or it cannot be read. */
    differences: command && original && differencesOf(original, command),
    /** The drop-ins that this user may not read: each may have a command. */
    unreadable: dropIns.filter((path) => contents[files.indexOf(path)] === null),
    /** The drop-ins that have a command. */
    overriddenBy: dropIns.filter((path) => (contents[files.indexOf(path)] ?? []).length > 0),
    /** Files that have changed since the service was started; null if it does not run. */
    changed: await changedSinceStart(service, [...files, `${localDirectory}/${unit}.d`], sources),
    /** Whether a file has changed since systemd read it; null if systemd does not report it. */
    isOutdated,
  }
}

type Commands = ReturnType<typeof commandsOf>

/** Null if the file cannot be read. */
const readCommands = async (service: string, path: string, { files }: ArgumentSources): Promise<Commands | null> => {
  const known = NODE_ARGUMENTS[service] ?? new Map()
  const result = await files.read(path, (text) => commandsOf(text, known))
  return typeof result === 'string' ? null : result.verdict
}

/** The command after all files: an empty one removes those before it. */
const lastOf = (contents: readonly (Commands | null)[]): UnitCommand | null => {
  const last = contents.flatMap((commands) => commands ?? []).at(-1)
  return last === undefined || last === 'reset' ? null : last
}

/** Values that are not shown cannot be compared. */
const differencesOf = (before: UnitCommand, now: UnitCommand) => {
  const [old, current] = [before, now].map(
    (one) => new Map<string, string | null>([['(program)', one.program], ...one.arguments.map(entryOf)]),
  )
  const names = [...new Set([...(old?.keys() ?? []), ...(current?.keys() ?? [])])]
  return names.flatMap((name) => {
    const isSame = old?.get(name) === current?.get(name)
    const change = !old?.has(name) ? 'added' : !current?.has(name) ? 'removed' : 'changed'
    return isSame && change === 'changed' ? [] : [{ name, change } as const]
  })
}

const entryOf = ({ name, value }: UnitCommand['arguments'][number]): readonly [string, string | null] => [name, value]

/** By the time of the last change of each file: packages keep the time of modification of their build. */
const changedSinceStart = async (
  service: string,
  files: readonly string[],
  { snapshot, files: reader }: ArgumentSources,
): Promise<readonly string[] | null> => {
  const running = snapshot.readings.services?.services.find((one) => one.service === service)
  const startedAt = running?.activeState === 'active' ? running.startedAt : null
  if (startedAt === null) return null
  const facts = await Promise.all(files.map((path) => reader.look(path)))
  return files.filter((_, at) => {
    const one = facts[at]
    return typeof one === 'object' && one.changedAt > startedAt
  })
}
