import { z } from 'zod'
import { excerpt } from '../../core/errors.ts'
import { redact } from '../../core/redact.ts'
import { minute } from '../../core/units.ts'
import type { LogPattern } from '../../parsers/log-pattern-list.ts'
import { patternsOf } from '../../parsers/log-patterns.ts'

/** So long a line is news: who looks at the log then should know of it. */
const WINDOW_MS = 10 * minute

interface Sighting {
  /** Of the newest such line, in milliseconds since the epoch. */
  at: number
  /** What it said, fit to be shown. */
  text: string
}

/** What was seen in the log of a service of late: pattern, and for the worst of it the text. */
export type Trouble = Readonly<Record<string, readonly string[]>>

const schema = z.record(
  z.string(),
  z.record(z.string(), z.object({ at: z.number(), text: z.string() })),
)

/** Remembers which patterns were seen in the last ten minutes, and what they said. */
export const createLogSightings = (services: readonly string[]) => {
  const seen = new Map(services.map((service) => [service, new Map<string, Sighting>()]))

  return {
    saw: (service: string, pattern: LogPattern, { at, text }: Sighting): void => {
      const known = seen.get(service)?.get(pattern.name)
      // Figures that change with every line must not become a line of ours each.
      const isNews = !known || pattern.reasonOnNextLine === true || at - known.at > WINDOW_MS
      const told = isNews ? fitToShow(text) : known.text
      seen.get(service)?.set(pattern.name, { at: Math.max(at, known?.at ?? 0), text: told })
    },
    /** Its next line, which tells why. */
    explain: (service: string, names: readonly string[], text: string): void => {
      for (const name of names) {
        const known = seen.get(service)?.get(name)
        if (known) known.text = fitToShow(text)
      }
    },
    read: (now: number): Trouble =>
      Object.fromEntries(
        services.map((service) => [
          service,
          patternsOf(service).flatMap(({ name, severity }) => {
            const sighting = seen.get(service)?.get(name)
            if (severity === 'info' || !sighting || now - sighting.at > WINDOW_MS) return []
            return [severity === 'critical' ? `${name}: ${sighting.text}` : name]
          }),
        ]),
      ),
    memory: () =>
      Object.fromEntries([...seen].map(([name, all]) => [name, Object.fromEntries(all)])),
    restore: (memory: unknown): void => {
      for (const [service, all] of Object.entries(schema.safeParse(memory).data ?? {})) {
        for (const [name, sighting] of Object.entries(all)) {
          seen.get(service)?.set(name, { ...sighting })
        }
      }
    },
  }
}

/** A line of a log may be a megabyte: whatever of it is shown stands in its beginning. */
const LOOKED_AT = 8192

/** Texts of a log may hold anything: directories of users, credentials, keys. */
const fitToShow = (text: string): string => excerpt(redact(text.slice(0, LOOKED_AT)))
