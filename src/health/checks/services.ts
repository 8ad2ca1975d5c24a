import { second } from '../../core/units.ts'
import { servicesDown, type ServiceFacts, serviceFacts } from '../facts.ts'
import type { Check, Evidence } from '../finding.ts'
import { LIMITS } from '../limits.ts'
import { list, roughly } from '../words.ts'
import { finding } from './make.ts'

/** The node does its work without these; somebody misses them all the same. */
const BESIDE = ['otelcol', 'ledger-tail', 'cruft']

const SIGNALS: Readonly<Record<string, string>> = {
  '4': 'SIGILL',
  '6': 'SIGABRT',
  '7': 'SIGBUS',
  '8': 'SIGFPE',
  '9': 'SIGKILL',
  '11': 'SIGSEGV',
  '15': 'SIGTERM',
}

/** Services that should run, and do not. */
export const services: Check = (evidence) => {
  const { known } = evidence
  const facts = serviceFacts(evidence)
  const down = servicesDown(known)
  const groups = [
    { severity: 'critical', of: down.filter((service) => !BESIDE.includes(service)) },
    { severity: 'warning', of: down.filter((service) => BESIDE.includes(service)) },
  ] as const
  return groups.flatMap(({ severity, of }) => {
    if (of.length === 0) return []
    const units = of.map((service) => unitOf(service, facts, evidence))
    const missing = of.filter(
      (service) => known.value('chain_service_state', { service, state: 'not-found' }) === 1,
    )
    const why = of.length === 1 ? endOf(facts.get(of[0] ?? '')) : undefined
    const verb = of.length === 1 ? 'does' : 'do'
    return [
      finding(
        missing.length === of.length ? 'ChainServiceMissing' : 'ChainServiceDown',
        {
          severity,
          says:
            missing.length === of.length
              ? `${list(units)} ${of.length === 1 ? 'is' : 'are'} not installed`
              : `${list(units)} ${verb} not run${why === undefined ? '' : `: it ${why}`}`,
        },
        {
          evidence: of.map((service, index) =>
            tell(units[index] ?? service, facts.get(service), evidence),
          ),
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

const unitOf = (
  service: string,
  facts: ReadonlyMap<string, ServiceFacts>,
  { prefix }: Evidence,
): string => facts.get(service)?.unit.replace(/\.service$/, '') ?? `${prefix ?? 'chain'}-${service}`

/** How it ended, as a sentence goes on; undefined where systemd does not tell. */
const endOf = (facts: ServiceFacts | undefined): string | undefined => {
  const { exit } = facts ?? {}
  if (!exit) return undefined
  if (exit.by === 'signal')
    return `was killed by ${SIGNALS[exit.status] ?? `signal ${exit.status}`}`
  return exit.status === '0' ? 'was stopped' : `ended with exit code ${exit.status}`
}

const tell = (unit: string, facts: ServiceFacts | undefined, { at }: Evidence): string => {
  const end = endOf(facts)
  const { activeState, exitedAt } = facts ?? {}
  return [
    `${unit}: systemd says ${activeState ?? 'not active'}`,
    ...(end === undefined ? [] : [`it ${end}`]),
    ...(typeof exitedAt === 'number'
      ? [`${roughly(at - exitedAt)} ago, at ${new Date(exitedAt).toISOString().slice(0, 19)}Z`]
      : []),
  ].join(', ')
}

/** Of consensus and execution none is started alone: the other may end itself at once. All three together, then. */
const howToStart = (labels: readonly string[], units: readonly string[]): string => {
  const whole = ['bft', 'execution', 'rpc']
  if (!labels.some((label) => label === 'bft' || label === 'execution')) {
    return `Start ${labels.length === 1 ? 'it' : 'them'}: \`sudo systemctl start ${units.join(' ')}\`.`
  }
  const word = (units[0] ?? '').split('-')[0] ?? ''
  const named = whole.map((label) => units[labels.indexOf(label)] ?? `${word}-${label}`).join(' ')
  return whole.every((label) => labels.includes(label))
    ? `Start them together: \`sudo systemctl start ${named}\`.`
    : `Restart consensus, execution and RPC together, none alone: \`sudo systemctl restart ${named}\`.`
}

export const timers: Check = ({ known, at }) => {
  const last = known.value('chain_timer_last_trigger_timestamp_seconds', { timer: 'cruft' })
  const late = last === undefined ? undefined : at / second - last
  return late !== undefined && late > LIMITS.cleanup.warning
    ? [
        finding(
          'ChainCleanupLate',
          { severity: 'warning', says: `the clean-up has not run for ${roughly(late * second)}` },
          { advice: ['See its timer: `systemctl list-timers`.'] },
        ),
      ]
    : []
}
