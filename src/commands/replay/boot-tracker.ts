import type { Config } from '../../config/schema.ts'
import type { Change } from '../../core/board.ts'
import type { Labels } from '../../health/promql/series.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import type { FiringLog } from './firings.ts'
import type { ServiceRuns } from './service-runs.ts'

interface BootTrackerDependencies {
  readonly config: Config
  readonly prefix: string
  readonly serviceRuns: ServiceRuns
  readonly firings: FiringLog
}

/** Tracks what collectors do not: the boots of the host, the services that have entries, and the text of trouble lines. */
export const createBootTracker = ({ config, prefix, serviceRuns, firings }: BootTrackerDependencies) => {
  const services = new Map(
    Object.entries(config.services.units).map(([service, unit]) => [unit.replaceAll('{prefix}', prefix), service]),
  )
  const withEntries = new Set<string>()
  const boots = new Set<string>()
  const states = new Map<string, string>()
  let boot = ''
  let bootedAt: number | null = null
  let entries = 0

  const noteBoot = (id: string, { at, offset }: { readonly at: number; readonly offset: number }): void => {
    if (boots.has(id)) return
    boots.add(id)
    boot = id
    if (boots.size === 1) return
    bootedAt = at
    serviceRuns.noteReboot()
    firings.addEvent({
      severity: 'info',
      beganAt: at - offset,
      endedAt: at - offset,
      summary: 'the host was rebooted',
    })
  }

  const add = ({ fields, at, unit }: JournalEntry, offset: number): void => {
    entries += 1
    const id = fields['_BOOT_ID']
    if (id !== undefined) noteBoot(id, { at, offset })
    const service = services.get(unit ?? '')
    if (service === undefined) return
    withEntries.add(service)
    const invocation = fields['_SYSTEMD_INVOCATION_ID']
    const isOwn = fields['_SYSTEMD_UNIT'] === unit
    if (isOwn && invocation !== undefined && (id ?? '') === boot) serviceRuns.noteEntry(service, invocation)
  }

  return {
    /** `offset`: what the clock of the host shows in addition to the time of the replay. */
    add: (batch: readonly JournalEntry[], offset: number): void => {
      for (const entry of batch) add(entry, offset)
    },
    entries: () => entries,
    boot: () => boot,
    bootedAt: () => bootedAt,
    missingServices: (wanted: ReadonlySet<string>): readonly string[] =>
      [...wanted].filter((service) => NEEDED.includes(service) && !withEntries.has(service)),
    notice: ({ subject, to }: Change): void => {
      if (subject !== undefined) states.set(subject, to)
    },
    /** The text of the log line that an alert is about; the logs collector keeps that of the most severe ones. */
    lineOf: ({ service, pattern }: Labels): string | undefined =>
      states
        .get(`${service} log`)
        ?.split(/; (?=[a-z_]+(?:: |; |$))/)
        .find((piece) => piece.startsWith(`${pattern}: `))
        ?.slice(`${pattern}: `.length),
  }
}

/** Services whose entries most rules need. */
const NEEDED: readonly string[] = ['bft', 'execution', 'ledger-tail']
