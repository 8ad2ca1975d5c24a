import type { Config } from '../../config/schema.ts'
import type { Change } from '../../core/board.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import type { Judge } from '../../health/incidents/judge.ts'
import type { Running } from './running.ts'

interface Parts {
  readonly config: Config
  readonly prefix: string
  readonly running: Running
  readonly judge: Judge
}

/** What entries tell beside what the collectors make of them: who speaks, and which start of the host it was. */
export const createWitness = ({ config, prefix, running, judge }: Parts) => {
  const services = new Map(
    Object.entries(config.services.units).map(([service, unit]) => [
      unit.replaceAll('{prefix}', prefix),
      service,
    ]),
  )
  const heard = new Set<string>()
  const boots = new Set<string>()
  const states = new Map<string, string>()
  let boot = ''
  let bootedAt: number | null = null
  let entries = 0

  const started = (id: string, at: number): void => {
    if (boots.has(id)) return
    boots.add(id)
    boot = id
    if (boots.size === 1) return
    bootedAt = at
    running.rebooted()
    judge.note({ severity: 'info', beganAt: at, endedAt: at, says: 'the host was started anew' })
  }

  const saw = ({ fields, at, unit }: JournalEntry): void => {
    entries += 1
    const id = fields['_BOOT_ID']
    if (id !== undefined) started(id, at)
    const service = services.get(unit ?? '')
    if (service === undefined) return
    heard.add(service)
    const invocation = fields['_SYSTEMD_INVOCATION_ID']
    const isOwn = fields['_SYSTEMD_UNIT'] === unit
    if (isOwn && invocation !== undefined && (id ?? '') === boot)
      running.speaks(service, invocation)
  }

  return {
    saw: (batch: readonly JournalEntry[]): void => {
      for (const entry of batch) saw(entry)
    },
    entries: () => entries,
    boot: () => boot,
    bootedAt: () => bootedAt,
    unheard: (wanted: ReadonlySet<string>): readonly string[] =>
      [...wanted].filter((service) => NEEDED.includes(service) && !heard.has(service)),
    notice: ({ subject, to }: Change): void => {
      if (subject !== undefined) states.set(subject, to)
    },
    /** What a line of trouble said; the collector of logs keeps the text of the worst. */
    said: (service: string, pattern: string): string | undefined =>
      states
        .get(`${service} log`)
        ?.split(/; (?=[a-z_]+(?:: |; |$))/)
        .find((piece) => piece.startsWith(`${pattern}: `))
        ?.slice(pattern.length + 2),
  }
}

/** Without these, most of what there is to find is not found. */
const NEEDED: readonly string[] = ['bft', 'execution', 'ledger-tail']
