import { deliveryState, isAcceptedAlert } from '../../outbound/delivery.ts'
import type { Config } from '../../config/schema.ts'
import { duration, share, utc } from '../../core/format.ts'
import { second } from '../../core/units.ts'
import { countedCauses, diagnose } from '../../health/diagnosis.ts'
import { maintenanceWindow } from '../../health/facts.ts'
import { oneLine } from '../../health/sections/fact.ts'
import type { NodeSnapshot } from '../../health/snapshot.ts'
import { forksAhead } from '../../health/summary.ts'
import { createAlertmanagerEndpoint } from '../../sources/alertmanager.ts'
import { createHttpClient } from '../../sources/http.ts'
import type { Io } from '../../terminal/io.ts'
import { alertLabels, authoritiesOf } from '../shared/alert-request.ts'
import type { Report } from './report.ts'
import {
  availabilityText,
  diskText,
  incidentCounts,
  incidentLabel,
  NO_INCIDENT,
  known,
  ownRoundsText,
  versionText,
} from './texts.ts'

/** A report as the annotations of an alert. */
interface Digest {
  /** The first line. */
  readonly summary: string
  /** Six lines at most. */
  readonly description: string
}

/** Incidents, and what is due, that are listed. */
const MAX_LISTED = 3
/** What other programs wrote may be long. */
const MAX_LINE = 300

export const digestOf = (report: Report, snapshot: NodeSnapshot): Digest => {
  const { from, to, incidents, duties, availability, versions, disk } = report
  const found = (incidents.value?.incidents ?? []).map((one) => `${utc(one.beganAt)} ${incidentLabel(one, to)}`)
  const counts = incidents.value ? incidentCounts(incidents.value) : 'incidents unknown'
  const up = availability.value ? [`${share(availability.value.fresh / availability.value.known)} available`] : []
  const lines: readonly (readonly [string, string])[] = [
    ...(counts === NO_INCIDENT ? [] : [['incidents', listed(found) || known(incidents, incidentCounts)] as const]),
    ['own rounds', known(duties, ownRoundsText)],
    ['availability', known(availability, (value) => availabilityText(to, value))],
    ['versions', versionText(versions)],
    ['disk', diskText(disk)],
    ['due', listed(dueIn(snapshot)) || 'nothing'],
  ]
  return {
    summary: line([`Report of ${duration(to - from)}: ${counts}`, ...up].join(', ')),
    description: lines.map(([label, text]) => line(`${label}: ${text}`)).join('\n'),
  }
}

/** The findings of now are among it: certificates, backups of keys, upgrades. */
const dueIn = (snapshot: NodeSnapshot): readonly string[] => {
  const window = maintenanceWindow(snapshot)
  return [
    ...(window ? [`maintenance (${window.reason}) ends in ${window.left}`] : []),
    ...(forksAhead(snapshot) ?? ['forks unknown']),
    ...countedCauses(diagnose(snapshot)),
    ...snapshot.known
      .series('chain_staking_withdrawal_ready')
      .flatMap(({ labels, value }) =>
        value === 1 ? [`withdrawal request ${labels['request']} can be withdrawn`] : [],
      ),
  ]
}

const listed = (texts: readonly string[]): string =>
  [...texts.slice(0, MAX_LISTED), ...(texts.length > MAX_LISTED ? [`${texts.length - MAX_LISTED} more`] : [])].join(
    '; ',
  )

const line = (text: string): string => oneLine(text).slice(0, MAX_LINE)

const REQUEST_MS = 10 * second

/**
 * Sends the report to each Alertmanager: `accepted` by its name, or the reason of the failure. Without times the alert
 * begins and ends by the clock of Alertmanager, after its resolve_timeout.
 */
export const sendReport = async (
  io: Io,
  config: Config,
  annotations: Digest,
): Promise<Readonly<Record<string, string>>> => {
  const own = await alertLabels(config, { alertname: 'ChainReport', severity: 'info' })
  const labels = { ...own, digest: 'true' }
  const ask = io.overrides?.ask ?? createHttpClient(io.clock, await authoritiesOf(io, config))
  const sent = config.alertmanagers.urls.map(async (url): Promise<readonly [string, string]> => {
    const endpoint = createAlertmanagerEndpoint(ask, url, REQUEST_MS)
    return [endpoint.name, await deliveryState(endpoint.send([{ labels, annotations }], io.signal), isAcceptedAlert)]
  })
  return Object.fromEntries(await Promise.all(sent))
}
