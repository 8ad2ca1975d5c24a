import { joinList } from '../../../core/format.ts'
import { FAILING_ARGUMENTS, SIDECAR_ARGUMENTS } from '../../../domain/node-arguments.ts'
import type { Finding } from '../../../health/finding.ts'
import { EMPTY_VALUE, HIDDEN_VALUE } from '../../../parsers/unit-command.ts'
import { readUnitArguments, type ServiceArguments } from '../../shared/unit-arguments.ts'
import { finding, type PreflightCheck } from './context.ts'

const PASSWORD = 'keystore-password'

/** The arguments of the node's programs, and the password that consensus has among them. */
export const nodeArguments: PreflightCheck = {
  name: 'the arguments of the services',
  run: async (context) => {
    const services = await readUnitArguments(context)
    const password = services.flatMap((one) => passwordOf(one) ?? []).at(0)
    return [
      ...changed(services.filter(({ isOverridden }) => !isOverridden)),
      ...(password?.value === HIDDEN_VALUE ? [inUnit(password.unit)] : []),
      ...(password && (await context.access.isProcessListPublic()) === true ? [inProcessList(password.unit)] : []),
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
export const changesOf = (services: readonly ServiceArguments[]): Pick<Finding, 'severity' | 'evidence'> => {
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

export const ARGUMENTS_ADVICE = [
  'See the arguments with their meaning, without secrets: `chain-agent status arguments`.',
  'Keep a change only if the documentation of the node has it: with some values its programs fail or crash.',
]

/** Those of drop-ins are in the finding about the drop-in. */
const changed = (services: readonly ServiceArguments[]): readonly Finding[] => {
  const found = services.filter(({ differences }) => differences !== null && differences.length > 0)
  if (found.length === 0) return []
  const { severity, evidence } = changesOf(found)
  return [
    finding('changed arguments', severity, {
      summary: `the arguments of ${joinList(found.map(({ unit }) => unit))} are not those of the package`,
      evidence,
      advice: ARGUMENTS_ADVICE,
    }),
  ]
}

const inUnit = (unit: string): Finding =>
  finding('password in a unit', 'warning', {
    summary: `the unit of ${unit} has the keystore password itself, not a variable`,
    evidence: ['Every user of the host can read it with `systemctl show`, whatever the permissions of the file.'],
    advice: [
      "Write `${KEYSTORE_PASSWORD}` as in the package's unit, and the password in its environment file (mode 600).",
    ],
  })

const inProcessList = (unit: string): Finding =>
  finding('password in the process list', 'info', {
    summary: `every user of this host can read the keystore password in the process list`,
    evidence: [`${unit} gets it as the argument --${PASSWORD}, and /proc is mounted without hidepid.`],
    advice: ['Hide the processes of other users: docs/how-to/host.md#hide-the-process-list.'],
  })
