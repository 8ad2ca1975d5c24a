import type { KeyFile } from '../collectors/keys/files.ts'
import { databaseUsedRatio } from '../domain/agreement.ts'
import { joinList, percent } from '../core/format.ts'
import { second } from '../core/units.ts'
import { clockOf, collectorsOf, isReady, lowestFreeRatio, portsOf } from './facts.ts'
import { notificationsOf } from './notifications.ts'
import {
  listed,
  no,
  ok,
  type Outcome,
  RESTART_MS,
  type RestartCheck,
  restartWindow,
  unknown,
} from './restart-window.ts'
import { splitAddress } from './rules/rule.ts'
import type { NodeSnapshot } from './snapshot.ts'

/** What a takeover is evaluated from. */
export interface StandbyInput {
  readonly here: NodeSnapshot
  /** The primary as its agent reports it, or why that is unknown, without a full stop. */
  readonly primary: NodeSnapshot | string
  /** The key files of this node, with the backups of the validator's keys. */
  readonly files: readonly KeyFile[]
  /** The public key in the secp backup; null if it is unknown. */
  readonly backupKey: string | null
  /** When the secp keystore of this node was written, in milliseconds since the epoch; null if it is unknown. */
  readonly keystoreWrittenAt: number | null
}

type Check = (input: StandbyInput) => Outcome

const reported = ({ primary }: StandbyInput) => (typeof primary === 'string' ? undefined : primary)
const configOf = (node: NodeSnapshot | undefined) => node?.readings.status?.config
const keyOf = (node: NodeSnapshot | undefined): string | null => configOf(node)?.secpPublicKey?.toLowerCase() ?? null
const short = (key: string): string => `${key.slice(0, 10)}…`

const primaryAnswers: Check = ({ here, primary }) => {
  if (typeof primary === 'string') return unknown(primary)
  const [own, other] = [configOf(here)?.chainId ?? null, configOf(primary)?.chainId ?? null]
  if (own !== null && other !== null && own !== other) return no(`it is on chain ${other}, this host on chain ${own}`)
  const key = keyOf(primary)
  if (key === null) return unknown('the status report of its node has no public key')
  return ok(`its agent answers: ${primary.health.state}, with the key ${short(key)}`)
}

const keyInUse: Check = (input) => {
  const { here, backupKey, keystoreWrittenAt } = input
  const [own, target] = [keyOf(here), keyOf(reported(input)) ?? backupKey]
  const startedAt = (here.known.value('chain_service_start_timestamp_seconds', { service: 'bft' }) ?? 0) * second
  if (own === null) return unknown('the status report of this node has no public key')
  if (target === null) return unknown('the key of the primary is unknown')
  if (own === target)
    return no(`this node already has the key of the primary, ${short(own)}: two nodes with one key are penalised`)
  if ((here.readings.status?.readAt ?? 0) < startedAt)
    return unknown('consensus was started after the last status report: repeat the check in five minutes')
  if (startedAt > 0 && keystoreWrittenAt !== null && keystoreWrittenAt > startedAt)
    return no('the secp keystore was written after the start of consensus: its next start may use another key')
  return ok(`this node has a key of its own, ${short(own)}`)
}

const keysPresent: Check = (input) => {
  const backups = input.files.filter(({ key, kind }) => kind === 'backup' && key !== 'password')
  const found = backups.filter(({ state }) => state !== 'ok')
  const isOpen = found.every(({ state }) => state === null || state === 'unverified')
  const text = found.map(({ key, state, why }) => `${key}: ${why ?? state ?? 'unknown'}`).join('; ')
  if (found.length > 0) return isOpen ? unknown(text) : no(text)
  const [own, key] = [input.backupKey, keyOf(reported(input))]
  if (own === null || key === null) return listed('the backups are intact; not compared with the primary')
  return own === key
    ? ok('the backups are intact, and secp is that of the primary')
    : no(`the secp backup is of ${short(own)}, and the primary has ${short(key)}`)
}

const version: Check = (input) => {
  const { known, readings } = input.here
  const [own, other] = [readings.version?.installed ?? null, reported(input)?.readings.version?.installed ?? null]
  if (own === null) return unknown('the installed version is unknown')
  if (known.value('chain_version_mismatch') === 1) return no(`${own} is installed, and another version still runs`)
  if (other === null) return unknown(`${own} here; that of the primary is unknown`)
  return own === other ? ok(`${own}, as on the primary`) : no(`${own} here, ${other} on the primary`)
}

const forks: Check = (input) => {
  const [own, others] = [input.here.readings.version?.forks ?? null, reported(input)?.readings.version?.forks ?? []]
  if (own === null) return unknown('the forks of the network are unknown')
  const namesOf = (some: typeof own) => some.map(({ fork }) => fork.name ?? 'unnamed')
  const missing = namesOf(others ?? []).filter((name) => !namesOf(own).includes(name))
  if (missing.length > 0) return no(`the primary knows ${joinList(missing)}, this host does not`)
  const notReady = own.filter((one) => isReady(one) !== true)
  if (notReady.length === 0) return ok(own.length === 0 ? 'none is near' : `ready for ${joinList(namesOf(own))}`)
  const text = `not ready for ${joinList(namesOf(notReady))}`
  return notReady.some((one) => isReady(one) === false) ? no(text) : unknown(`possibly ${text}`)
}

/** No condition of these alerts is true, and the reading that they need is there. */
const withoutAlerts =
  (alerts: readonly string[], textOf: (here: NodeSnapshot) => string | undefined): Check =>
  ({ here }) => {
    // A condition counts before its alert fires: the takeover would be now.
    const found = here.health.findings.filter(
      ({ alert, severity, state, countsAs }) =>
        alerts.includes(splitAddress(alert).alert) && severity !== 'info' && (state === 'pending' || countsAs !== null),
    )
    if (found.length > 0) return no([...new Set(found.map(({ summary }) => summary))].join('; '))
    const text = here.health.unknownBecause === 'no evaluation' ? undefined : textOf(here)
    return text === undefined ? unknown('no reading: `chain-agent check` has the reason') : ok(text)
  }

const receiver: Check = ({ here }) => {
  const { alertmanagers, text } = notificationsOf(here)
  if (alertmanagers.some(({ isAccepted }) => isAccepted === false)) return no(text)
  return alertmanagers.some(({ isAccepted }) => isAccepted === true) ? ok(text) : listed(text)
}

const monitoring: Check = ({ here }) => {
  if (here.origin === 'node') return no('no agent runs on this host')
  const found = here.health.findings.filter(
    ({ component, countsAs }) => component === 'agent' && countsAs !== null && countsAs !== 'info',
  )
  return found.length > 0 ? no(found.map(({ summary }) => summary).join('; ')) : ok(collectorsOf(here).text)
}

const OWN = { primary: primaryAnswers, 'key in use': keyInUse, keys: keysPresent, version, forks }
const HOST = {
  disk: withoutAlerts(['ChainDiskFull', 'ChainStorageFull', 'ChainDriveFailing', 'ChainDriveGone'], ({ known }) => {
    const [used, free] = [databaseUsedRatio(known), lowestFreeRatio(known)]
    if (used === undefined || free === undefined) return undefined
    return `the database is ${percent(used)} full; at least ${percent(free)} of each file system is free`
  }),
  clock: withoutAlerts(['ChainClockDrift'], ({ known }) => {
    const offset = clockOf(known).offsetSeconds
    return offset === undefined ? undefined : `synchronised, ${(Math.abs(offset) * second).toFixed(1)} ms off`
  }),
  ports: withoutAlerts(['ChainPortExposed'], ({ known }) => {
    const checked = portsOf(known)?.checked
    return checked && `no port that should be local is open to other hosts, of ${joinList(checked)}`
  }),
  receiver,
  monitoring,
}
/** A takeover starts consensus with other keys: these conditions are those of a restart. */
const OF_RESTART = ['services', 'sync', 'references', 'findings', 'blocksync']

/** Whether this host could take over from the primary now. Changes nothing. */
export const standbyReport = (input: StandbyInput) => {
  const run = (all: Readonly<Record<string, Check>>): readonly RestartCheck[] =>
    Object.entries(all).map(([name, check]) => ({ name, ...check(input) }))
  const restart = restartWindow({ ...input.here, span: RESTART_MS }).checks
  const checks = [...run(OWN), ...restart.filter(({ name }) => OF_RESTART.includes(name)), ...run(HOST)]
  const failed = checks.filter(({ state }) => state === 'no')
  const open = checks.filter(({ state, isRequired }) => state === 'unknown' && isRequired)
  const state: RestartCheck['state'] = failed.length > 0 ? 'no' : open.length > 0 ? 'unknown' : 'ok'
  const reasons = (failed.length > 0 ? failed : open).map(({ name, summary }) => `; ${name}: ${summary}`)
  return { state, summary: `${WORDS[state]}${reasons.join('')}`, checks }
}

const WORDS = { ok: 'ready to take over', no: 'not ready', unknown: 'unknown' } as const
