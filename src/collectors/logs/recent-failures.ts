import { z } from 'zod'
import { excerpt } from '../../core/errors.ts'
import { redact } from '../../core/redact.ts'
import { minute } from '../../core/units.ts'
import type { LogPattern } from '../../parsers/log-pattern-list.ts'
import { patternsOf } from '../../parsers/log-patterns.ts'

/** How long a failure is part of the state, in milliseconds. */
const WINDOW_MS = 10 * minute

interface Failure {
  /** Time of the newest line, in milliseconds since the epoch. */
  at: number
  /** Its text, redacted and shortened. */
  text: string
}

/** Service → recent failures: the name of the pattern, with the text of the line if it is critical. */
export type RecentFailures = Readonly<Record<string, readonly string[]>>

const schema = z.record(z.string(), z.record(z.string(), z.object({ at: z.number(), text: z.string() })))

/** The patterns that matched in the last ten minutes, with the text of the line. */
export const createRecentFailures = (services: readonly string[]) => {
  const failures = new Map(services.map((service) => [service, new Map<string, Failure>()]))

  return {
    add: (service: string, pattern: LogPattern, { at, text }: Failure): void => {
      const known = failures.get(service)?.get(pattern.name)
      // A text whose values change with every line must not become a log line each.
      const isNew = !known || pattern.reasonOnNextLine === true || at - known.at > WINDOW_MS
      const shown = isNew ? redactedExcerpt(text) : known.text
      failures.get(service)?.set(pattern.name, { at: Math.max(at, known?.at ?? 0), text: shown })
    },
    /** Sets the text to that of the next line, which contains the reason. */
    explain: (service: string, names: readonly string[], text: string): void => {
      for (const name of names) {
        const known = failures.get(service)?.get(name)
        if (known) known.text = redactedExcerpt(text)
      }
    },
    read: (now: number): RecentFailures =>
      Object.fromEntries(
        services.map((service) => [
          service,
          patternsOf(service).flatMap(({ name, severity }) => {
            const failure = failures.get(service)?.get(name)
            if (severity === 'info' || !failure || now - failure.at > WINDOW_MS) return []
            return [severity === 'critical' ? `${name}: ${failure.text}` : name]
          }),
        ]),
      ),
    snapshot: () => Object.fromEntries([...failures].map(([name, all]) => [name, Object.fromEntries(all)])),
    restore: (snapshot: unknown): void => {
      for (const [service, all] of Object.entries(schema.safeParse(snapshot).data ?? {})) {
        for (const [name, failure] of Object.entries(all)) {
          failures.get(service)?.set(name, { ...failure })
        }
      }
    },
  }
}

/** Characters of a line to redact: a line may have a megabyte, and only its start is shown. */
const MAX_TEXT = 8192

/** A log line may contain home directories, credentials and keys. */
const redactedExcerpt = (text: string): string => excerpt(redact(text.slice(0, MAX_TEXT)))
