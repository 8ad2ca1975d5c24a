import type { Finding } from '../../../health/finding.ts'
import { list } from '../../../health/words.ts'
import { parseUnitFiles, settingsOf, UNIT_FILE_PROPERTIES } from '../../../parsers/systemctl.ts'
import { finding, type Look, type Visit } from './visit.ts'

interface DropIn {
  readonly path: string
  readonly units: readonly string[]
  /** Names of what it sets; null where this user may not read it. */
  readonly settings: readonly string[] | null
}

/** With these another program runs, or the same with other arguments. */
const COMMANDS = /^Exec(?:Start|StartPre|StartPost|Stop|StopPost|Reload|Condition)$/

/**
 * Files beside the units of the node that override what they say: after an upgrade the old command would
 * still be started. Units hold passwords, so that names of settings are shown, and nothing else of a file.
 */
export const dropIns: Look = {
  at: 'the drop-ins of the units',
  look: async (visit) => {
    const { config, exec, signal, picture } = visit
    const word = picture.prefix ?? 'chain'
    const names = Object.values(config.services.units).map((unit) =>
      unit.replaceAll('{prefix}', word),
    )
    const args = ['show', `--property=${UNIT_FILE_PROPERTIES.join(',')}`, ...names]
    const { stdout } = await exec.run({ command: 'systemctl', args }, signal)
    const shown = parseUnitFiles(stdout).filter(({ isLoaded }) => isLoaded)
    const paths = [...new Set(shown.flatMap((one) => one.dropIns))]
    const found = await Promise.all(
      paths.map(async (path): Promise<DropIn> => ({
        path,
        units: shown.filter((one) => one.dropIns.includes(path)).map(({ unit }) => short(unit)),
        settings: await read(visit, path),
      })),
    )
    // A file with comments alone changes nothing.
    const telling = found.filter(({ settings }) => settings === null || settings.length > 0)
    const outdated = shown.filter(({ isOutdated }) => isOutdated === true)
    return [
      ...commands(telling),
      ...others(telling),
      ...unread(outdated.map(({ unit }) => short(unit))),
    ]
  },
}

const short = (unit: string): string => unit.replace(/\.service$/, '')

const read = async ({ files }: Visit, path: string): Promise<readonly string[] | null> => {
  const told = await files.read(path, settingsOf)
  return typeof told === 'string' ? null : told.verdict
}

const commands = (all: readonly DropIn[]): readonly Finding[] => {
  const found = all.filter(({ settings }) => settings?.some((name) => COMMANDS.test(name)))
  if (found.length === 0) return []
  const units = [...new Set(found.flatMap((one) => one.units))]
  return [
    finding('drop-in overrides a command', 'warning', {
      says: `${found.length === 1 ? 'a drop-in overrides' : 'drop-ins override'} the command of ${list(units)}`,
      evidence: found.map(tell),
      advice: [
        'After each upgrade compare it with the unit that is shipped: what that has new does not take effect.',
        "Read it yourself, and where nobody looks on, for it may hold the keystores' password: `systemctl cat UNIT`.",
      ],
    }),
  ]
}

const others = (all: readonly DropIn[]): readonly Finding[] => {
  const found = all.filter(({ settings }) => !settings?.some((name) => COMMANDS.test(name)))
  if (found.length === 0) return []
  return [
    finding('drop-ins', 'info', {
      says: `${found.length === 1 ? 'a drop-in changes' : `${found.length} drop-ins change`} the units of the node`,
      evidence: found.map(tell),
      advice: found.some(({ settings }) => settings === null)
        ? ['To see what all of them set: `sudo chain-agent check`.']
        : [],
    }),
  ]
}

const tell = ({ path, units, settings }: DropIn): string => {
  const what = settings === null ? 'cannot be read by this user' : `sets ${list(settings)}`
  return `${path} ${what} (${list(units)}).`
}

const unread = (units: readonly string[]): readonly Finding[] =>
  units.length === 0
    ? []
    : [
        finding('unit files changed', 'warning', {
          says: `systemd has not read the changed files of ${list(units)}`,
          evidence: ['Until it does, a start takes the old ones.'],
          advice: ['Let it read them, which starts nothing: `sudo systemctl daemon-reload`.'],
        }),
      ]
