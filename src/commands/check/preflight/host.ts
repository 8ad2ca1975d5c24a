import { joinList } from '../../../core/format.ts'
import { enableAdvice } from '../../../core/package.ts'
import { FAILING_ARGUMENTS, SIDECAR_ARGUMENTS } from '../../../domain/node-arguments.ts'
import type { Finding } from '../../../health/finding.ts'
import { parseGroups } from '../../../parsers/groups.ts'
import { settingsOf } from '../../../parsers/systemctl.ts'
import { EMPTY_VALUE, HIDDEN_VALUE } from '../../../parsers/unit-command.ts'
import { readUnitArguments, readUnitFiles, type ServiceArguments } from '../../shared/unit-arguments.ts'
import { finding, type PreflightCheck, type PreflightContext } from './context.ts'

/** Why there is no storage report, if there is none. */
export const database: PreflightCheck = {
  name: 'the device of the database',
  run: async (context) => {
    const status = context.snapshot.collectors.find(({ name }) => name === 'storage')
    if (status?.enabled !== true || status.up !== false) return []
    const { reportFile, devices } = context.config.storage
    if (reportFile !== null) return report(context, reportFile)
    const found = await Promise.all(devices.map((path) => device(context, path)))
    return found.flat()
  },
}

const UNIT = 'chain-agent-storage'

const report = async ({ access }: PreflightContext, path: string): Promise<readonly Finding[]> => {
  const permission = await access.mayRead(path)
  if (permission !== 'none' && permission !== 'no') return []
  return finding('storage report', 'warning', {
    summary: permission === 'none' ? 'the storage report does not exist' : 'this user may not read the storage report',
    evidence: [`It should be at ${path} (storage.reportFile).`],
    advice:
      permission === 'none'
        ? [
            `See the unit that writes it: \`systemctl status ${UNIT}.timer ${UNIT}.service\`.`,
            `Enable it: ${enableAdvice(`${UNIT}.timer`)}.`,
          ]
        : [`Make it readable for this user: the unit ${UNIT}.service writes it that way.`],
  })
}

const device = async ({ access }: PreflightContext, path: string): Promise<readonly Finding[]> => {
  const permission = await access.mayRead(path)
  if (permission === 'none') {
    return finding('database device', 'warning', {
      summary: `there is no ${path}`,
      evidence: ['It is passed to the database tool (storage.devices).'],
      advice: [
        'See which device the node uses, and whether its link was created at boot: `lsblk -o NAME,SIZE,MODEL,FSTYPE` and `ls -l /dev/triedb`.',
        'If it has another name, set `storage.devices` in the configuration.',
      ],
    })
  }
  if (permission !== 'no') return []
  return finding('database device', 'warning', {
    summary: `this user may not read ${path}`,
    evidence: ['The database tool opens it read-only.'],
    advice: [
      `Use the unit that may read it, and set \`storage.reportFile\`: ${enableAdvice(`${UNIT}.timer`)}.`,
      'Only this time: `sudo chain-agent check`.',
    ],
  })
}

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
    const prefix = context.snapshot.prefix ?? 'chain'
    const names = Object.values(context.config.services.units).map((unit) => unit.replaceAll('{prefix}', prefix))
    const loaded = (await readUnitFiles(context, ...names)).filter(({ isLoaded }) => isLoaded)
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
    const overridden = (await readUnitArguments(context)).filter(({ isOverridden }) => isOverridden)
    return [
      ...commands(relevant, overridden),
      ...others(relevant),
      ...notReloaded(outdated.map(({ unit }) => short(unit))),
    ]
  },
}

const DEFAULT_CONSENSUS = '{prefix}-bft.service'

/** A fork of the node names the unit of consensus like its prefix: nothing else shows that the settings miss it. */
export const consensusUnit: PreflightCheck = {
  name: 'the unit of consensus',
  run: async (context) => {
    const { prefix } = context.snapshot
    if (prefix === null || context.config.services.units['bft'] !== DEFAULT_CONSENSUS) return []
    const [expected, other] = [DEFAULT_CONSENSUS.replace('{prefix}', prefix), `${prefix}.service`]
    const shown = await readUnitFiles(context, expected, other)
    const loaded = shown.flatMap(({ unit, isLoaded }) => (isLoaded ? [unit] : []))
    if (loaded.includes(expected) || !loaded.includes(other)) return []
    return finding('consensus unit', 'warning', {
      summary: `there is no ${expected}, but there is a ${other}`,
      evidence: ['The agent reads consensus from the first one (services.units, logs.units, consensus.unit).'],
      advice: [
        `If consensus runs as ${other}, set the three in the configuration: \`bft: ${other}\` in services.units and in logs.units, with the other units of the list, and \`consensus.unit: ${other}\`.`,
      ],
    })
  },
}

/** The documentation of the node holds its package, so that an automatic upgrade does not replace it. */
export const packageHold: PreflightCheck = {
  name: 'whether the package of the node is on hold',
  run: ({ snapshot }) => {
    const { value } = snapshot.readings.version?.package ?? {}
    if (value?.isHeld !== false) return []
    return finding('package not on hold', 'info', {
      summary: 'the package of the node is not on hold',
      evidence: ['An automatic upgrade may install a release before it is announced for your network.'],
      advice: [`Hold it: \`sudo apt-mark hold ${value.package ?? ''}\`.`],
    })
  },
}

const short = (unit: string): string => unit.replace(/\.service$/, '')

const read = async ({ files }: PreflightContext, path: string): Promise<readonly string[] | null> => {
  const result = await files.read(path, settingsOf)
  return typeof result === 'string' ? null : result.verdict
}

const commands = (all: readonly DropIn[], overridden: readonly ServiceArguments[]): readonly Finding[] => {
  const found = all.filter(({ settings }) => settings?.some((name) => COMMANDS.test(name)))
  if (found.length === 0) return []
  const units = [...new Set(found.flatMap((one) => one.units))]
  const { severity, evidence } = changesOf(overridden)
  return finding('drop-in overrides a command', severity, {
    summary: `${found.length === 1 ? 'a drop-in overrides' : 'drop-ins override'} the command of ${joinList(units)}`,
    evidence: [...found.map(describe), ...evidence],
    advice: [
      'After each upgrade compare it with the shipped unit: changes to overridden settings do not take effect.',
      ...ARGUMENTS_ADVICE,
    ],
  })
}

const others = (all: readonly DropIn[]): readonly Finding[] => {
  const found = all.filter(({ settings }) => !settings?.some((name) => COMMANDS.test(name)))
  if (found.length === 0) return []
  return finding('drop-ins', 'info', {
    summary: `${found.length === 1 ? 'a drop-in changes' : `${found.length} drop-ins change`} the units of the node`,
    evidence: found.map(describe),
    advice: found.some(({ settings }) => settings === null)
      ? ['To see the settings of all of them: `sudo chain-agent check`.']
      : [],
  })
}

const describe = ({ path, units, settings }: DropIn): string => {
  const what = settings === null ? 'cannot be read by this user' : `sets ${joinList(settings)}`
  return `${path} ${what} (${joinList(units)}).`
}

const notReloaded = (units: readonly string[]): readonly Finding[] =>
  units.length === 0
    ? []
    : finding('unit files changed', 'warning', {
        summary: `systemd has not reloaded the changed files of ${joinList(units)}`,
        evidence: ['Until it does, a start uses the old ones.'],
        advice: ['Reload them, which restarts nothing: `sudo systemctl daemon-reload`.'],
      })

const GROUPS = ['systemd-journal', 'adm']
const ROOT = 0

/**
 * Why this user may not read the journal; the collectors report that it may not. A user who was added to a group has it
 * only after the next login, which is easily forgotten.
 */
export const journalGroup: PreflightCheck = {
  name: 'the groups of this user',
  run: async ({ snapshot, access: { user }, exec, signal }) => {
    const isForbidden = snapshot.collectors.some(
      ({ enabled, up, error }) => enabled && up === false && error?.code === 'journal not permitted',
    )
    if (!isForbidden || user.uid === ROOT) return []
    // Exit status 2: one of the groups does not exist; the others are printed nevertheless.
    const program = { command: 'getent', args: ['group', ...GROUPS], answers: [0, 2] }
    const groups = parseGroups((await exec.run(program, signal)).stdout)
    const name = user.name ?? `${user.uid}`
    const had = groups.filter(({ id }) => user.groups.includes(id))
    const given = groups.filter(({ members }) => user.name !== null && members.includes(user.name))
    const waiting = given.filter((group) => !had.includes(group))
    if (had.length > 0) {
      return finding('journal group', 'warning', {
        summary: `this user is in the group ${joinList(namesOf(had))}, and still may not read the journal`,
        advice: [
          'See the owner of the files: `ls -ld /var/log/journal /run/log/journal`.',
          'Restore their permissions: `sudo systemd-tmpfiles --create --prefix /var/log/journal`.',
        ],
      })
    }
    if (waiting.length > 0) {
      return finding('journal group', 'warning', {
        summary: `this session does not have the group ${joinList(namesOf(waiting))} yet, although ${name} is in it`,
        evidence: ['A process keeps the groups that its session had at login.'],
        advice: [
          'Log in again, and repeat the check.',
          `If it is the user of the agent: \`sudo systemctl restart chain-agent\`.`,
        ],
      })
    }
    return finding('journal group', 'warning', {
      summary: `the user ${name} is in no group that may read the journal`,
      evidence: [
        groups.length === 0
          ? `This host has none of the groups ${joinList(GROUPS)}.`
          : `Groups that may: ${joinList(namesOf(groups))}.`,
      ],
      advice: [
        `Add it: \`sudo usermod -aG systemd-journal ${name}\`.`,
        'Then log in again: an open session does not get the group.',
      ],
    })
  },
}

const namesOf = (groups: readonly { readonly name: string }[]): readonly string[] => groups.map(({ name }) => name)

/** The state directory, with the journal cursors of the agent and the maintenance window of the operator. */
export const state: PreflightCheck = {
  name: 'the state directory',
  run: async ({ config, access }) => {
    const { directory } = config.state
    const permission = await access.mayWrite(directory)
    if (permission === 'yes' || permission === 'unknown') return []
    const isMissing = permission === 'none'
    return finding('state directory', 'info', {
      summary: isMissing
        ? 'the agent has no state directory yet'
        : 'this user may not write the state directory of the agent',
      evidence: [
        `It is ${directory} (state.directory).`,
        isMissing
          ? 'systemd creates it when the unit of the agent starts for the first time.'
          : 'This is normal for every user other than the user of the agent.',
      ],
      advice: isMissing ? [] : ['Set a maintenance window as root: `sudo chain-agent maintenance start 30m`.'],
    })
  },
}

const PASSWORD = 'keystore-password'

/** The arguments of the node's programs, and the password that consensus has among them. */
export const nodeArguments: PreflightCheck = {
  name: 'the arguments of the services',
  run: async (context) => {
    const services = await readUnitArguments(context)
    const password = services.flatMap((one) => passwordOf(one) ?? []).at(0)
    return [
      ...changed(services.filter(({ isOverridden }) => !isOverridden)),
      ...(password?.value === HIDDEN_VALUE ? inUnit(password.unit) : []),
      ...(password && (await context.access.isProcessListPublic()) === true ? inProcessList(password.unit) : []),
    ]
  },
}

const passwordOf = ({ unit, command }: ServiceArguments) => {
  const value = command?.arguments.find(({ name }) => name === PASSWORD)?.value
  return typeof value === 'string' && value !== EMPTY_VALUE ? { unit, value } : undefined
}

/**
 * What differs from the arguments of the package. A change is the operator's decision and remains: it is a warning only
 * if the node fails with it.
 */
const changesOf = (services: readonly ServiceArguments[]): Pick<Finding, 'severity' | 'evidence'> => {
  const all = services.flatMap(({ unit, differences }) => (differences ?? []).map((one) => ({ unit, ...one })))
  const fails = all.some(({ name, change }) => change !== 'removed' && FAILING_ARGUMENTS.has(name))
  const units = [...new Set(all.map(({ unit }) => unit))]
  return {
    severity: fails ? 'warning' : 'info',
    evidence: [
      ...units.map((unit) => {
        const own = all.filter((one) => one.unit === unit)
        return `${unit}: ${own.map(({ name, change }) => `${name} ${change}`).join(', ')}.`
      }),
      ...(all.some(({ name }) => SIDECAR_ARGUMENTS.has(name)) ? [SIDECAR] : []),
    ],
  }
}

const SIDECAR =
  'Another socket for transactions is that of a sidecar, such as fastlane-sidecar: consensus and the RPC name the same one.'

const ARGUMENTS_ADVICE = [
  'See the arguments with their meaning, without secrets: `chain-agent status arguments`.',
  'Keep a change only if the documentation of the node has it: with some values its programs fail or crash.',
]

/** Those of drop-ins are in the finding about the drop-in. */
const changed = (services: readonly ServiceArguments[]): readonly Finding[] => {
  const found = services.filter(({ differences }) => differences !== null && differences.length > 0)
  if (found.length === 0) return []
  const { severity, evidence } = changesOf(found)
  return finding('changed arguments', severity, {
    summary: `the arguments of ${joinList(found.map(({ unit }) => unit))} are not those of the package`,
    evidence,
    advice: ARGUMENTS_ADVICE,
  })
}

const inUnit = (unit: string): readonly Finding[] =>
  finding('password in a unit', 'warning', {
    summary: `the unit of ${unit} has the keystore password itself, not a variable`,
    evidence: ['Every user of the host can read it with `systemctl show`, whatever the permissions of the file.'],
    advice: [
      "Write `${KEYSTORE_PASSWORD}` as in the package's unit, and the password in its environment file (mode 600).",
    ],
  })

const inProcessList = (unit: string): readonly Finding[] =>
  finding('password in the process list', 'info', {
    summary: `every user of this host can read the keystore password in the process list`,
    evidence: [`${unit} gets it as the argument --${PASSWORD}, and /proc is mounted without hidepid.`],
    advice: ['Hide the processes of other users: docs/how-to/host.md#hide-the-process-list.'],
  })
