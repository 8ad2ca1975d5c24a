import { type Command, InvalidArgumentError } from 'commander'
import { redactUrl } from '../../core/redact.ts'
import { hour, parseDuration, renderDuration } from '../../core/units.ts'
import { carriesKey } from '../../query/client/base.ts'
import { DEFAULT_RETRIES, DEFAULT_TIMEOUT_MS } from '../../query/client/types.ts'
import type { Service } from './service.ts'
import { UsageError } from '../../cli/io.ts'

/** The options of every command that asks a query service. */
export interface ServiceOptions {
  readonly url: string
  readonly apiKeyFile?: string
  readonly apiKeyHeader?: string
  readonly timeout?: number
  readonly retries?: number
}

export const serviceOptions = (command: Command): Command =>
  command
    .requiredOption(
      '--url <url>',
      'where the query service is: /query and /height are below it',
      readAddressOf('--url'),
    )
    .option(
      '--api-key-file <file>',
      'a file with the API key alone; CHAIN_AGENT_API_KEY without it',
    )
    .option(
      '--api-key-header <name>',
      'the header for the key, as it is; Authorization: Bearer without it',
      readHeader,
    )
    .option(
      '--timeout <duration>',
      `how long one request may take, like 10s; ${renderDuration(DEFAULT_TIMEOUT_MS)} without it`,
      readTimeout,
    )
    .option(
      '--retries <number>',
      `how often a request that fails is sent again; ${DEFAULT_RETRIES} without it, 0 for never`,
      readRetries,
    )

export const serviceOf = (options: ServiceOptions): Service => ({
  url: options.url,
  apiKeyFile: options.apiKeyFile ?? null,
  apiKeyHeader: options.apiKeyHeader ?? null,
  timeoutMs: options.timeout,
  retries: options.retries,
})

/** An address of http or https. What is refused is not repeated: a secret may be in it. */
export const readAddressOf =
  (option: '--url' | '--rpc') =>
  (text: string): string => {
    const refuse = (why: string): UsageError =>
      new UsageError(`${option}: expected ${why}\n  it is: ${redactUrl(text)}`)
    const url = URL.canParse(text) ? new URL(text) : undefined
    if (!url || !/^https?:$/.test(url.protocol)) {
      throw refuse('an http or https address, like https://query.example')
    }
    // It would stand in the list of processes, where anybody reads it.
    if (url.username !== '' || url.password !== '') {
      throw refuse(
        `an address without a user in it${option === '--url' ? '; keys have --api-key-file' : ''}`,
      )
    }
    // Paths are put behind it.
    if (option === '--url' && (url.search !== '' || url.hash !== '')) {
      throw refuse('an address that ends with its path; keys have --api-key-file')
    }
    return text
  }

const readHeader = (text: string): string => {
  if (/^[A-Za-z0-9-]{1,64}$/.test(text) && carriesKey(text)) return text
  throw new InvalidArgumentError('expected the name of a header for a key, like X-Api-Key')
}

const LONGEST_TIMEOUT = hour
const MOST_RETRIES = 100

const readTimeout = (text: string): number => {
  const ms = parseDuration(text)
  if (ms !== undefined && ms >= 1 && ms <= LONGEST_TIMEOUT) return ms
  const hint = /^\d+(?:\.\d+)?$/.test(text) ? `. Did you mean ${text}s?` : ''
  throw new InvalidArgumentError(`expected a duration from 1ms to 1h, like 10s${hint}`)
}

const readRetries = (text: string): number => {
  const retries = Number(text)
  if (/^\d{1,3}$/.test(text) && retries <= MOST_RETRIES) return retries
  throw new InvalidArgumentError(`expected a number from 0 to ${MOST_RETRIES}`)
}

/** A block's number. */
export const readBlock = (text: string): number => {
  const block = Number(text)
  if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(block)) return block
  throw new InvalidArgumentError('expected the number of a block')
}

/** An address, in any case; in lower case from here on. */
export const readAddress = (text: string): string => {
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) return text.toLowerCase()
  throw new InvalidArgumentError('expected an address: 0x and 40 hex digits')
}
