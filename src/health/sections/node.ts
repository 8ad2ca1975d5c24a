import { group, type Section, statusReport, summary, type View } from './section.ts'
import { duration, figure, count, utc } from '../../core/format.ts'
import { second } from '../../core/units.ts'
import { fact, type Fact, iso, joined, relativeTime } from './fact.ts'
import { chainIdOf } from '../../domain/agreement.ts'
import { isReady } from '../facts.ts'
import type { Readings } from '../../collectors/index.ts'
import type { Tone } from '../../domain/health.ts'

/** The identity of the node. */
export const header: Section = {
  name: 'header',
  label: 'node',
  aliases: ['node'],
  groups: [
    statusReport((view) => {
      const { hostname, date, uptimeSeconds, version } = view.readings.status?.header ?? {}
      return [
        fact('hostname', hostname),
        fact('date', date),
        fact('uptimeSeconds', uptimeSeconds, { label: 'uptime', text: (seconds) => duration(seconds * second) }),
        fact('version', version),
      ]
    }),
  ],
  summary: (view) => {
    const { hostname, version, uptimeSeconds = null } = view.readings.status?.header ?? {}
    const { network = null, chainId = null } = view.readings.status?.config ?? {}
    const chain = chainId === null ? '' : ` (chain ${chainId})`
    return summary([
      hostname,
      version,
      network === null ? null : `${network}${chain}`,
      uptimeSeconds === null ? null : `up ${duration(uptimeSeconds * second)}`,
    ])
  },
}

const FIELDS = ['network', 'chain', 'chainId', 'secpPublicKey', 'blsPublicKey', 'nodeSignature', 'selfAddress'] as const

/** The configuration of the node. */
export const config: Section = {
  name: 'config',
  groups: [
    statusReport((view) => {
      const reading = view.readings.status?.config
      return [
        ...FIELDS.map((name) => fact(name, reading?.[name])),
        // Status reports before 2026 do not have it.
        ...(typeof reading?.selfAuthPort === 'bigint' ? [fact('selfAuthPort', reading.selfAuthPort)] : []),
        fact('recordSeqNum', reading?.recordSeqNum),
      ]
    }),
  ],
}

export const peers: Section = {
  name: 'peers',
  groups: [
    statusReport((view) => [fact('peersNumber', view.readings.status?.peers, { text: figure })]),
    group('native', 'the metrics of consensus', ({ known }) => [
      fact(['native', 'discovered'], known.value('chain_native_peers')),
      fact(['native', 'upstreamValidators'], known.value('chain_native_upstream_validators')),
      fact(['native', 'downstreamNodes'], known.value('chain_native_downstream_nodes')),
      ...(['transport', 'initiating'] as const).map((state) =>
        fact(['native', 'sessions', state], known.value('chain_native_sessions', { state }), {
          label: `sessions, ${state}`,
        }),
      ),
    ]),
  ],
  summary: (view) => {
    const reported = view.readings.status?.peers ?? null
    const discovered = view.known.value('chain_native_peers')
    const isAlone = Number(reported ?? discovered) === 0
    if (reported === null && discovered === undefined) return null
    const found = discovered === undefined ? '' : `${figure(discovered)} discovered`
    const text = reported === null ? found : count(reported, 'peer') + (found === '' ? '' : ` reported, ${found}`)
    return summary(text, isAlone ? 'bad' : undefined)
  },
}

type Readiness = NonNullable<NonNullable<Readings['version']>['forks']>[number]

const inWords = ({ checks, promotionDue }: Readiness): string => {
  const named = (is: boolean | null): string =>
    checks
      .filter(({ ready }) => ready === is)
      .map(({ check }) => check)
      .join(' and ')
  const [lacking, open] = [named(false), named(null)]
  const parts = [lacking && `NOT ready: ${lacking}`, open && `unknown: ${open}`]
  const due = promotionDue === true ? 'the slot-encoded timeline is still primary' : null
  return joined([...parts, due], '; ') ?? 'ready'
}

const toneOf = (readiness: Readiness): Tone | undefined => {
  const ready = isReady(readiness)
  if (ready === true) return readiness.promotionDue === true ? 'notice' : undefined
  return ready === false ? 'bad' : 'unknown'
}

const RUNS: Readonly<Record<string, string>> = { rpc: 'the RPC', native: 'consensus' }

export const versions: Section = {
  name: 'versions',
  aliases: ['version', 'forks'],
  groups: [
    group('version', 'the package, the programs, the running services', (view) => {
      const reading = view.readings.version
      const { value: found, error: packageError } = reading?.package ?? {}
      const { candidate = null, isAvailable = null, state: upgradeState } = reading?.upgrade ?? {}
      const installed = typeof found?.version === 'string' ? found : undefined
      return [
        fact('installed', reading?.installed),
        fact('package', installed && { package: installed.package, version: installed.version }, {
          text: (one) => `${one.package ?? ''} ${one.version ?? ''}`,
          unknownReason: packageError?.message,
        }),
        fact('upgrade', candidate === null ? null : { candidate, isAvailable }, {
          text: () => upgradeState ?? '',
          unknownReason: upgradeState?.replace(/^unknown: /, ''),
          tone: () => (isAvailable === true ? 'notice' : undefined),
        }),
        fact('onHold', found?.isHeld, { label: 'package on hold' }),
        ...[...(reading?.programs ?? [])].map(([name, { value, error }]) => {
          const { program = null, version = null, tag = null, commit = null, branch = null } = value ?? {}
          return fact(['programs', name], version === null ? null : { program, version, tag, commit, branch }, {
            label: `program ${program ?? name}`,
            text: () => [version, tag, commitOf(commit)],
            unknownReason: error?.message,
          })
        }),
        ...runningFacts(view),
        fact('restartPending', reading?.mismatch, {
          text: (isPending) => (isPending ? 'yes: a service does not run the installed version' : 'no'),
          tone: (isPending) => (isPending ? 'notice' : undefined),
        }),
        ...(reading?.forks ?? []).map((one) => forkFact(one, view)),
        view.time('forksReviewedAt', reading?.forksReviewedAt, { label: 'list of forks, of' }),
      ]
    }),
  ],
  summary: (view) => {
    const { installed = null, running = [], mismatch, forks: all } = view.readings.version ?? {}
    const forks = all ?? []
    // Without the chain id, the list of its forks is not known to be empty.
    const areForksKnown = forks.length > 0 || ((all ?? null) !== null && chainIdOf(view.known) !== null)
    const runs = joined([...new Set(running.map(({ version }) => version))], ' and ')
    if (installed === null && running.length === 0 && forks.length === 0) return null
    const unready = forks.filter((one) => toneOf(one) !== undefined)
    const next = forks.filter(({ fork }) => (fork.activationAt ?? 0) > view.at)
    const shown = unready.length > 0 ? unready : next
    const tones: readonly (Tone | undefined)[] = [...unready.map(toneOf), mismatch === true ? 'notice' : undefined]
    return summary(
      [
        installed === null ? runs && `${runs} running` : `${installed} installed`,
        mismatch === true ? 'another version is running: restart pending' : null,
        areForksKnown ? null : 'forks unknown',
        ...shown.map(
          (one) => `${one.fork.kind ?? 'fork'} ${one.fork.name ?? ''} ${timeUntil(one, view)}: ${inWords(one)}`,
        ),
      ],
      tones.includes('bad') ? 'bad' : tones.find((tone) => tone !== undefined),
    )
  },
}

const commitOf = (commit: string | null): string | null =>
  commit === null || commit === '' ? null : `commit ${commit.slice(0, 12)}`

const runningFacts = (view: View): readonly Fact[] => {
  const { running = [] } = view.readings.version ?? {}
  if (running.length === 0) return [fact('running', null)]
  return running.map(({ source, version }) =>
    fact(['running', source ?? ''], version, { label: `${RUNS[source ?? ''] ?? source} runs` }),
  )
}

const timeUntil = ({ fork }: Readiness, view: View): string =>
  fork.activationAt === null ? '' : relativeTime(fork.activationAt, view.at)

const forkFact = (readiness: Readiness, view: View): Fact => {
  const { name, kind, activationAt, minimumVersion } = readiness.fork
  const value = {
    kind,
    activationAt: iso(activationAt),
    minimumVersion,
    ready: isReady(readiness),
    checks: Object.fromEntries(readiness.checks.map(({ check, ready }) => [check ?? '', ready])),
  }
  return fact(['forks', name ?? ''], value, {
    label: `${kind ?? 'fork'} ${name ?? ''}`,
    text: () => [
      inWords(readiness),
      activationAt === null ? null : `${utc(activationAt)} (${timeUntil(readiness, view)})`,
      minimumVersion === null ? null : `needs ${minimumVersion}`,
    ],
    tone: () => toneOf(readiness),
  })
}
