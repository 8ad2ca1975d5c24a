import { joinList } from '../../../core/format.ts'
import { enableAdvice } from '../../../core/package.ts'
import { FAILING_ARGUMENTS, SIDECAR_ARGUMENTS } from '../../../domain/node-arguments.ts'
import type { Finding } from '../../../health/finding.ts'
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
      ...overridden(services.filter(({ overriddenBy }) => overriddenBy.length > 0)),
      ...unread(services.filter(({ unreadable }) => unreadable.length > 0)),
      ...changed(services.filter(({ overriddenBy }) => overriddenBy.length === 0)),
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
  'See the arguments, without secrets: `chain-agent status arguments`.',
  'Keep a change only if the documentation of the node has it: with some values its programs fail or crash.',
]

/** An unreadable drop-in, often the one with the password, may override the command. */
const unread = (services: readonly ServiceArguments[]): readonly Finding[] => {
  if (services.length === 0) return []
  const evidence = services.flatMap(({ unit, unreadable }) => unreadable.map((path) => `${path} (${unit}).`))
  return finding('unreadable drop-ins', 'info', {
    summary: `this user may not read ${evidence.length === 1 ? 'a drop-in' : 'drop-ins'} of ${joinList(services.map(({ unit }) => unit))}`,
    evidence: [...evidence, 'Whether it overrides the command is unknown.'],
    advice: ['See the arguments: `sudo chain-agent check`.'],
  })
}

/** After an upgrade a drop-in still starts the old command. */
const overridden = (services: readonly ServiceArguments[]): readonly Finding[] => {
  if (services.length === 0) return []
  const { severity, evidence } = changesOf(services)
  const paths = services.flatMap(({ unit, overriddenBy }) =>
    overriddenBy.map((path) => `${path} sets ExecStart (${unit}).`),
  )
  return finding('drop-in overrides a command', severity, {
    summary: `${paths.length === 1 ? 'a drop-in overrides' : 'drop-ins override'} the command of ${joinList(services.map(({ unit }) => unit))}`,
    evidence: [...paths, ...evidence],
    advice: [
      'After each upgrade compare it with the shipped unit: changes to overridden settings do not take effect.',
      ...ARGUMENTS_ADVICE,
    ],
  })
}

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
