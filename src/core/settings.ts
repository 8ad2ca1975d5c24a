import { z } from 'zod'
import type { Timing } from './collector.ts'
import { hour, minute, parseDuration } from './units.ts'

/** A duration with unit, converted to milliseconds. */
export const duration = (byDefault: string, description: string) =>
  z
    .string('expected a duration like 2s, 500ms or 5m')
    .transform((text, context) => {
      const milliseconds = parseDuration(text)
      if (milliseconds !== undefined && milliseconds >= 50 && milliseconds <= 24 * hour) {
        return milliseconds
      }
      context.addIssue('expected a duration between 50ms and 1d, like 2s, 500ms or 5m')
      return z.NEVER
    })
    .prefault(byDefault)
    .describe(description)

export const url = (description: string) =>
  z
    .string('expected an http or https address')
    .refine(
      (text) => URL.canParse(text) && /^https?:\/\/\S+$/i.test(text),
      'expected an http or https address, like http://localhost:8080',
    )
    .describe(description)

const LISTEN = /^(?:\[(?<v6>[0-9a-fA-F:.]+)\]|(?<host>[^\s:[\]]*)):(?<port>\d{1,5})$/

/** As for Prometheus, `localhost` is the IPv4 address, whichever the resolver returns first. */
const HOSTS: ReadonlyMap<string, string> = new Map([
  ['', '::'],
  ['localhost', '127.0.0.1'],
])

/** A base URL to which paths are appended: a query service. */
export const baseUrl = (description: string) =>
  url(description).refine(isBase, {
    message: 'expected a URL without user, query or fragment, like https://host or https://host/prefix',
  })

const isBase = (text: string): boolean => {
  if (!URL.canParse(text)) return true
  const { username, password, search, hash } = new URL(text)
  return [username, password, search, hash].every((part) => part === '')
}

export const listenAt = (byDefault: string, description: string) =>
  z
    .string('expected HOST:PORT')
    .transform((text, context) => {
      const { v6, host, port } = LISTEN.exec(text)?.groups ?? {}
      const name = v6 ?? host
      if (name !== undefined && Number(port) <= 65_535) {
        return { host: HOSTS.get(name.toLowerCase()) ?? name, port: Number(port) }
      }
      const own = byDefault.slice(byDefault.lastIndexOf(':'))
      context.addIssue(`expected HOST:PORT, like 127.0.0.1${own}, [::1]${own}, or ${own} for every address`)
      return z.NEVER
    })
    .prefault(byDefault)
    .describe(description)

export const listen = listenAt(
  '127.0.0.1:9843',
  'address of /metrics; :9843 listens on every address of the host, localhost:9843 on 127.0.0.1',
)

/** A value for a label: it is part of every series of the thing it names. */
export const label = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, 'expected letters, digits, dots and dashes')

/** A name in a Host header. */
export const hostName = z
  .string()
  .regex(/^[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?$/, 'expected a host name without a port')

/** An absolute path of a file or a directory. */
export const file = (description: string) =>
  z.string().regex(/^\//, 'expected a path that begins with /').describe(description)

export const reference = z
  .strictObject({
    name: label.optional(),
    url: url('address of the reference'),
    kind: z.enum(['rpc', 'query'], 'expected rpc or query').default('rpc'),
    apiKeyFile: file('the file with the API key of a query service').optional(),
  })
  .refine(({ kind, apiKeyFile }) => kind === 'query' || apiKeyFile === undefined, {
    path: ['apiKeyFile'],
    message: 'expected with kind: query alone',
  })
  .transform(({ name, url: where, kind, apiKeyFile = null }) => ({
    // A name, never the URL: URLs may contain keys, and labels are public.
    name: name ?? new URL(where).hostname,
    url: where,
    kind,
    apiKeyFile,
  }))

/** The address of a contract or an account, converted to lower case. */
export const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'expected an address: 0x and 40 hex digits')
  .transform((text) => text.toLowerCase())

export const enabled = z.boolean('expected true or false').default(true).describe('false turns it off')

const inMilliseconds = (text: string): number => duration(text, '').parse(undefined)

/** The settings of a collector whose interval may be set. */
export const polling = (interval: string, description = 'how often it polls') => ({
  enabled,
  interval: duration(interval, description),
})

const LONGEST_MS = minute

/**
 * Adds the time limit of a read: `timeout` at the default interval, and in proportion more with a longer one, up to a
 * minute. Both are durations with unit.
 */
export const withTimeout = (interval: string, timeout: string) => {
  const least = inMilliseconds(timeout)
  return <Settings extends { readonly interval?: unknown }>(settings: Settings) => {
    const inProportion = Math.round((least * Number(settings.interval)) / inMilliseconds(interval))
    return { ...settings, timeout: Math.max(least, Math.min(LONGEST_MS, inProportion)) }
  }
}

/** The settings of a collector, with the time limit of a read. The interval is one of these fields, or the given one. */
export function timed<Fields extends z.ZodRawShape>(
  interval: string,
  timeout: string,
  fields: Fields,
): z.ZodType<z.output<z.ZodObject<Fields>> & Timing>
export function timed(interval: string, timeout: string, fields: z.ZodRawShape): z.ZodType {
  const limited = withTimeout(interval, timeout)
  return z
    .strictObject(fields)
    .transform((settings) => limited({ interval: inMilliseconds(interval), ...settings }))
    .prefault({})
}

export const serviceUnit = z.string().regex(/^\S+\.service$/, 'expected the name of a .service unit')
