import { z } from 'zod'
import { packageFile } from '../core/package.ts'
import { type ConfigFile, parseConfigFile, parseWith, readText, similarKey, valueAt } from './file.ts'
import { label } from '../core/settings.ts'
import { hour } from '../core/units.ts'

/** The table shipped with the agent. */
const SHIPPED = packageFile('networks/forks.yaml')

/**
 * Reads the shipped forks and the operator's own file, whose entries take precedence. Throws a ConfigError that lists
 * every error with its line. The own file may not have been reviewed later than tomorrow: ChainUpgradeDue.fork-list would not fire
 * until then. `now` is not trusted if it is before the review of the shipped list.
 */
export const readForks = (own: string | null, now: number): ForkList => {
  const shipped = readList(SHIPPED, Infinity)
  const added = own === null ? NO_FORKS : readList(own, Math.max(now, shipped.reviewedAt ?? 0) + 24 * hour)
  const forks = new Map(shipped.forks)
  for (const [chain, entries] of added.forks) {
    const names = new Set(entries.map(({ name }) => name))
    const others = (forks.get(chain) ?? []).filter(({ name }) => !names.has(name))
    forks.set(chain, [...others, ...entries])
  }
  const reviews = [shipped, added].flatMap(({ reviewedAt }) => reviewedAt ?? [])
  return { forks, reviewedAt: reviews.length === 0 ? null : Math.max(...reviews) }
}

const NO_FORKS: ForkList = { forks: new Map(), reviewedAt: null }

const readList = (place: string | URL, latest: number): ForkList =>
  parseForks(parseConfigFile(String(place), readText(place, 'the file with forks')), latest)

const ISO = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?Z)?$/

const activation = z.string(`expected a time`).transform((text, context) => {
  const at = ISO.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isFinite(at)) return at
  context.addIssue('expected a time like 2026-09-02T14:30:00Z, or a day')
  return z.NEVER
})

const entry = z
  .strictObject({
    name: label,
    /** `fork`: the protocol rules change. `release`: a minimum version is required. */
    kind: z.enum(['fork', 'release'], 'expected fork or release'),
    activation,
    /** The oldest version that works from then on; null if every version does. */
    minimumVersion: z
      .string('expected a version; quote one of two numbers')
      .regex(
        /^v?\d{1,9}(?:\.\d{1,9}){1,4}(?:[-~][a-z][\w.]*|\+\d{1,9})?$/,
        'expected a version like 0.16.1 or 0.16.2+1',
      )
      .nullable()
      .default(null),
    /** The required encoding of a database timeline; null if none is required. */
    timeline: z.enum(['page'], 'expected page or null').nullable().default(null),
    source: z.string('expected a text').optional(),
  })
  .transform(({ activation: activationAt, source: _source, ...fork }) => ({ ...fork, activationAt }))

const LISTS = 'expected lists of forks under chain ids'
const head = (latest: number) => {
  const reviewed = activation.refine((at) => at <= latest, 'expected no day in the future, by the clock of this host')
  return z.looseObject({ reviewed: reviewed.nullable().default(null) }, LISTS)
}

const table = z.record(
  z.string().regex(/^\d{1,20}$/, 'expected a chain id in decimal digits'),
  z
    .array(entry, 'expected a list of forks')
    .max(50, 'expected 50 forks at most')
    .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, 'expected names that differ'),
  LISTS,
)

/** Parses a file with forks, reviewed at `latest` or before. Throws a ConfigError that lists every error with its line. */
export const parseForks = (file: ConfigFile, latest: number): ForkList => {
  const more = (path: readonly PropertyKey[], isUnknown: boolean): string =>
    isUnknown ? similarKey(path, KEYS) : `, got ${shown(valueAt(file.value, path))}`
  const { reviewed, ...networks } = parseWith(head(latest), file, more)
  const forks = parseWith(table, { ...file, value: networks }, more)
  return { forks: new Map(Object.entries(forks)), reviewedAt: reviewed }
}

const KEYS = ['name', 'kind', 'activation', 'minimumVersion', 'timeline', 'source']

const shown = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 100))

/** A date from which the network requires a version or a database timeline. */
export type Fork = z.output<typeof entry>

/** A map from the chain id, in decimal digits. */
export type Forks = ReadonlyMap<string, readonly Fork[]>

/** The forks, and the day on which the list was last compared with the public sources. */
export interface ForkList {
  readonly forks: Forks
  /** In milliseconds since the epoch; null for a file without a date. */
  readonly reviewedAt: number | null
}
