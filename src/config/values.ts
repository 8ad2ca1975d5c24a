import { z } from 'zod'
import { parseDuration } from '../core/units.ts'

const HOUR = 3_600_000

/** Durations are written with their unit and become milliseconds. */
const duration = (byDefault: string, description: string) =>
  z
    .string('expected a duration like 2s, 500ms or 5m')
    .transform((text, context) => {
      const milliseconds = parseDuration(text)
      if (milliseconds !== undefined && milliseconds >= 50 && milliseconds <= 24 * HOUR) {
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

const LISTEN = /^(?:\[(?<v6>[0-9a-fA-F:.]+)\]|(?<host>[^\s:[\]]+)):(?<port>\d{1,5})$/

export const listen = z
  .string('expected HOST:PORT')
  .transform((text, context) => {
    const { v6, host, port } = LISTEN.exec(text)?.groups ?? {}
    const name = v6 ?? host
    if (name !== undefined && Number(port) <= 65_535) return { host: name, port: Number(port) }
    context.addIssue('expected HOST:PORT, like 127.0.0.1:9843 or [::1]:9843')
    return z.NEVER
  })
  .prefault('127.0.0.1:9843')
  .describe('where /metrics is served; loopback unless you say otherwise')

/** A word that is fit for a label: it ends up in every series about the thing. */
export const label = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, 'expected letters, digits, dots and dashes')

export const reference = z
  .strictObject({
    name: label.optional(),
    url: url('address of the reference'),
    kind: z.enum(['rpc', 'query'], 'expected rpc or query').default('rpc'),
  })
  .transform(({ name, url: address, kind }) => ({
    // A name and never the address: addresses carry keys, and a label is public.
    name: name ?? new URL(address).hostname,
    url: address,
    kind,
  }))

const enabled = z.boolean('expected true or false').default(true).describe('false turns it off')

export const timing = (
  interval: string,
  timeout: string,
  [often, long]: readonly [string, string],
) => ({
  enabled,
  interval: duration(interval, often),
  timeout: duration(timeout, long),
})

export const serviceUnit = z
  .string()
  .regex(/^\S+\.service$/, 'expected the name of a .service unit')

/** A file or a directory. */
export const file = (description: string) =>
  z.string().regex(/^\//, 'expected a path that begins with /').describe(description)

export const POLL = ['how often it asks', 'how long it waits for an answer'] as const
export const FOLLOW = [
  'how often it shows that it is alive',
  'how long opening the journal may take',
] as const
