import { second } from '../../core/units.ts'
import type { Readings } from '../../collectors/index.ts'
import { newestBlock, servicesDown } from '../facts.ts'
import { type Check, finding, type Finding, type HealthInput } from '../finding.ts'
import { LIMITS } from '../limits.ts'
import { joinList, shortDuration } from '../../core/format.ts'
import type { CollectorState } from '../snapshot.ts'

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
          'ChainCleanup',
          {
            severity: 'warning',
            says: `the clean-up has not run for ${shortDuration(late * second)}`,
          },
          { advice: ['See its timer: `systemctl list-timers`.'] },
        ),
      ]
    : []
}

/** There is no node on this host: systemd knows none of its units and its RPC port does not answer. */
export const node: Check = ({ known, prefix }) => {
  const expected = known
    .series('chain_service_expected')
    .filter(({ value }) => value === 1)
    .map(({ labels }) => labels['service'] ?? '')
  const isMissing = (service: string): boolean =>
    known.value('chain_service_state', { service, state: 'not-found' }) === 1
  if (known.value('chain_rpc_up') === 1 || newestBlock(known)) return []
  if (!expected.every(isMissing)) return []
  // If systemd is unreachable, only an RPC that does not answer suggests that there is no node.
  if (expected.length === 0 && known.value('chain_rpc_up') !== 0) return []
  return [
    finding(
      'ChainServiceMissing',
      {
        severity: 'unknown',
        says: 'there is no node on this host, or none that this user can see',
      },
      {
        evidence: [
          expected.length === 0
            ? 'systemd did not list its units.'
            : `systemd knows none of the units ${expected.map((one) => `${prefix ?? 'chain'}-${one}`).join(', ')}.`,
          "The address of the node's RPC does not answer.",
        ],
        advice: [
          "Run it on the node's own host, where systemd is process 1.",
          'If the names of the units have another prefix, set it: `--prefix PREFIX`.',
        ],
      },
    ),
  ]
}

/** Collectors that fail. One that is disabled, or whose first attempt has not ended, does not fail. */
export const collectors: Check = ({ collectors: all }) => {
  const failing = all.filter(({ enabled, up }) => enabled && up === false)
  const journal = failing.filter(({ error }) => error?.code === 'journal not permitted')
  const others = failing.filter((one) => !journal.includes(one))
  return [...withoutJournal(journal), ...failed(others)]
}

const withoutJournal = (failing: readonly CollectorState[]): readonly Finding[] =>
  failing.length === 0
    ? []
    : [
        finding(
          'ChainCollectorDown',
          {
            severity: 'warning',
            says: 'this user may not read the journal: the logs of the node are not seen',
          },
          {
            evidence: [`Collectors without data: ${joinList(failing.map(({ name }) => name))}.`],
            advice: [
              'Add the user to the group: `usermod -aG systemd-journal USER`.',
              'The group takes effect after a new login; for a unit, after its restart.',
            ],
          },
        ),
      ]

const failed = (failing: readonly CollectorState[]): readonly Finding[] =>
  failing.length === 0
    ? []
    : [
        finding(
          'ChainCollectorDown',
          {
            severity: 'warning',
            says: `${joinList(failing.map(({ name }) => name))} could not be read`,
          },
          {
            evidence: failing.map(
              ({ name, error }) => `${name}: ${error?.message.split('\n')[0] ?? 'no answer in time'}`,
            ),
            advice: failing.flatMap(({ error }) => {
              const { advice = null } = error ?? {}
              return advice === null ? [] : [`${advice[0]?.toUpperCase() ?? ''}${advice.slice(1)}.`]
            }),
          },
        ),
      ]

const STATES = [
  { state: 'missing', name: 'ChainKeyFileMissing', severity: 'critical', are: 'missing' },
  {
    state: 'invalid',
    name: 'ChainKeyFileInvalid',
    severity: 'critical',
    are: 'invalid',
  },
  { state: 'exposed', name: 'ChainKeyFileExposed', severity: 'warning', are: 'readable by others' },
] as const

const ADVICE = {
  missing:
    'Without it the node cannot be moved. `sudo chain-agent keys backup` writes a new backup, `sudo chain-agent keys restore` restores a keystore: see docs/keys.md.',
  invalid:
    'An empty or corrupt file is not a backup. `sudo chain-agent keys backup` writes a new backup, `sudo chain-agent keys restore` restores a keystore: see docs/keys.md.',
  exposed: 'Restrict its permissions: `chmod 600 FILE`. If other users could read it, treat the key as compromised.',
} as const

/** The key files, which are the identity of the node. */
export const keys: Check = ({ known }) =>
  STATES.flatMap(({ state, name, severity, are }) => {
    const files = known
      .series('chain_key_file_state')
      .filter(({ labels, value }) => labels['state'] === state && value === 1)
      .map(({ labels }) => `the ${labels['key']} ${labels['kind']}`)
    return files.length === 0
      ? []
      : [
          finding(
            name,
            { severity, says: `${joinList(files)} ${files.length === 1 ? 'is' : 'are'} ${are}` },
            { advice: [ADVICE[state]], subject: 'security' },
          ),
        ]
  })

/** Ports that should be reachable only from this host. */
export const ports: Check = ({ known }) => {
  const open = known
    .series('chain_host_port_exposed')
    .filter(({ value }) => value === 1)
    .map(({ labels }) => labels['port'] ?? '')
  return open.length === 0
    ? []
    : [
        finding(
          'ChainPortExposed',
          {
            severity: 'warning',
            says: `${open.length === 1 ? 'port' : 'ports'} ${joinList(open)} ${open.length === 1 ? 'listens' : 'listen'} on every address`,
          },
          {
            evidence: ['The agent cannot see a firewall in front of it.'],
            advice: ['Bind it to 127.0.0.1, or check that a firewall blocks it.'],
            subject: 'security',
          },
        ),
      ]
}
