import { settingsOf, parseUnitFiles, UNIT_FILE_PROPERTIES } from '../../../parsers/systemctl.ts'
import type { Finding } from '../../../health/finding.ts'
import { joinList } from '../../../health/format.ts'
import { finding, type PreflightCheck, type PreflightContext } from './context.ts'

interface DropIn {
  readonly path: string
  readonly units: readonly string[]
  /** Names of its settings; null if this user may not read it. */
  readonly settings: readonly string[] | null
}

/** Settings that change the command of a unit. */
const COMMANDS = /^Exec(?:Start|StartPre|StartPost|Stop|StopPost|Reload|Condition)$/

/**
 * Drop-ins of the units of the node: after an upgrade they may still start the old command. Units may contain
 * passwords, so only the names of settings are shown, never their values.
 */
export const dropIns: PreflightCheck = {
  name: 'the drop-ins of the units',
  run: async (context) => {
    const { config, exec, signal, snapshot } = context
    const prefix = snapshot.prefix ?? 'chain'
    const names = Object.values(config.services.units).map((unit) => unit.replaceAll('{prefix}', prefix))
    const args = ['show', `--property=${UNIT_FILE_PROPERTIES.join(',')}`, ...names]
    const { stdout } = await exec.run({ command: 'systemctl', args }, signal)
    const loaded = parseUnitFiles(stdout).filter(({ isLoaded }) => isLoaded)
    const paths = [...new Set(loaded.flatMap((one) => one.dropIns))]
    const found = await Promise.all(
      paths.map(async (path): Promise<DropIn> => ({
        path,
        units: loaded.filter((one) => one.dropIns.includes(path)).map(({ unit }) => short(unit)),
        settings: await read(context, path),
      })),
    )
    // A file with only comments changes nothing.
    const relevant = found.filter(({ settings }) => settings === null || settings.length > 0)
    const outdated = loaded.filter(({ isOutdated }) => isOutdated === true)
    return [...commands(relevant), ...others(relevant), ...notReloaded(outdated.map(({ unit }) => short(unit)))]
  },
}

const short = (unit: string): string => unit.replace(/\.service$/, '')

const read = async ({ files }: PreflightContext, path: string): Promise<readonly string[] | null> => {
  const result = await files.read(path, settingsOf)
  return typeof result === 'string' ? null : result.verdict
}

const commands = (all: readonly DropIn[]): readonly Finding[] => {
  const found = all.filter(({ settings }) => settings?.some((name) => COMMANDS.test(name)))
  if (found.length === 0) return []
  const units = [...new Set(found.flatMap((one) => one.units))]
  return [
    finding('drop-in overrides a command', 'warning', {
      says: `${found.length === 1 ? 'a drop-in overrides' : 'drop-ins override'} the command of ${joinList(units)}`,
      evidence: found.map(describe),
      advice: [
        'After each upgrade compare it with the shipped unit: changes to overridden settings do not take effect.',
        "Read it in private, because it may contain the keystores' password: `systemctl cat UNIT`.",
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
      evidence: found.map(describe),
      advice: found.some(({ settings }) => settings === null)
        ? ['To see the settings of all of them: `sudo chain-agent check`.']
        : [],
    }),
  ]
}

const describe = ({ path, units, settings }: DropIn): string => {
  const what = settings === null ? 'cannot be read by this user' : `sets ${joinList(settings)}`
  return `${path} ${what} (${joinList(units)}).`
}

const notReloaded = (units: readonly string[]): readonly Finding[] =>
  units.length === 0
    ? []
    : [
        finding('unit files changed', 'warning', {
          says: `systemd has not reloaded the changed files of ${joinList(units)}`,
          evidence: ['Until it does, a start uses the old ones.'],
          advice: ['Reload them, which restarts nothing: `sudo systemctl daemon-reload`.'],
        }),
      ]
