import { second } from '../../core/units.ts'
import type { Readings } from '../../collectors/index.ts'
import { servicesDown } from '../facts.ts'
import { type Check, finding, type HealthInput } from '../finding.ts'
import { LIMITS } from '../limits.ts'
import { joinList, shortDuration } from '../format.ts'

/** The node produces no fewer blocks without these. */
const AUXILIARY = ['otelcol', 'ledger-tail', 'cruft']

const SIGNALS: Readonly<Record<string, string>> = {
  '4': 'SIGILL',
  '6': 'SIGABRT',
  '7': 'SIGBUS',
  '8': 'SIGFPE',
  '9': 'SIGKILL',
  '11': 'SIGSEGV',
  '15': 'SIGTERM',
}

/** Services that should run and do not. */
export const services: Check = (input) => {
  const { known } = input
  const facts = new Map(input.readings.services?.services.map((one) => [one.service, one]))
  const down = servicesDown(known)
  const groups = [
    { severity: 'critical', of: down.filter((service) => !AUXILIARY.includes(service)) },
    { severity: 'warning', of: down.filter((service) => AUXILIARY.includes(service)) },
  ] as const
  return groups.flatMap(({ severity, of }) => {
    if (of.length === 0) return []
    const units = of.map((service) => unitOf(service, facts, input))
    const missing = of.filter((service) => known.value('chain_service_state', { service, state: 'not-found' }) === 1)
    const why = of.length === 1 ? endOf(facts.get(of[0] ?? '')) : undefined
    const verb = of.length === 1 ? 'does' : 'do'
    return [
      finding(
        missing.length === of.length ? 'ChainServiceMissing' : 'ChainServiceDown',
        {
          severity,
          says:
            missing.length === of.length
              ? `${joinList(units)} ${of.length === 1 ? 'is' : 'are'} not installed`
              : `${joinList(units)} ${verb} not run${why === undefined ? '' : `: it ${why}`}`,
        },
        {
          evidence: of.map((service, index) => stateOf(units[index] ?? service, facts.get(service), input)),
          advice: [
            `See why: \`journalctl ${units.map((unit) => `-u ${unit}`).join(' ')} -n 50\`.`,
            'See whether something must be fixed first: `chain-agent recover`.',
            howToStart(of, units),
          ],
        },
      ),
    ]
  })
}

/** The unit as systemd reports it. */
type UnitReading = NonNullable<Readings['services']>['services'][number]

const unitOf = (service: string, facts: ReadonlyMap<string | null, UnitReading>, { prefix }: HealthInput): string =>
  facts.get(service)?.unit?.replace(/\.service$/, '') ?? `${prefix ?? 'chain'}-${service}`

/** How the service ended, as the end of a sentence; undefined if systemd does not report it. */
const endOf = (facts: UnitReading | undefined): string | undefined => {
  const { by = null, status = null } = facts?.exit ?? {}
  if (by === null || status === null) return undefined
  if (by === 'signal') return `was killed by ${SIGNALS[String(status)] ?? `signal ${status}`}`
  return status === 0n ? 'was stopped' : `exited with status ${status}`
}

const stateOf = (unit: string, facts: UnitReading | undefined, { at }: HealthInput): string => {
  const end = endOf(facts)
  const { activeState, exitedAt } = facts ?? {}
  return [
    `${unit}: systemd reports ${activeState ?? 'not active'}`,
    ...(end === undefined ? [] : [`it ${end}`]),
    ...(typeof exitedAt === 'number'
      ? [`${shortDuration(at - exitedAt)} ago, at ${new Date(exitedAt).toISOString().slice(0, 19)}Z`]
      : []),
  ].join(', ')
}

/** Consensus and execution are never started alone, because the other one may abort; all three are started together. */
const howToStart = (labels: readonly string[], units: readonly string[]): string => {
  const all = ['bft', 'execution', 'rpc']
  if (!labels.some((label) => label === 'bft' || label === 'execution')) {
    return `Start ${labels.length === 1 ? 'it' : 'them'}: \`sudo systemctl start ${units.join(' ')}\`.`
  }
  const prefix = (units[0] ?? '').split('-')[0] ?? ''
  const named = all.map((label) => units[labels.indexOf(label)] ?? `${prefix}-${label}`).join(' ')
  return all.every((label) => labels.includes(label))
    ? `Start them together: \`sudo systemctl start ${named}\`.`
    : `Restart consensus, execution and RPC together, never one alone: \`sudo systemctl restart ${named}\`.`
}

export const timers: Check = ({ known, at }) => {
  const last = known.value('chain_timer_last_trigger_timestamp_seconds', { timer: 'cruft' })
  const late = last === undefined ? undefined : at / second - last
  return late !== undefined && late > LIMITS.cleanup.warning
    ? [
        finding(
          'ChainCleanupLate',
          {
            severity: 'warning',
            says: `the clean-up has not run for ${shortDuration(late * second)}`,
          },
          { advice: ['See its timer: `systemctl list-timers`.'] },
        ),
      ]
    : []
}
