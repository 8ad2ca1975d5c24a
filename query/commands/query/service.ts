import { type Command, InvalidArgumentError } from 'commander'
import { UsageError } from '../../../src/terminal/io.ts'
import { readDuration, readNumber } from '../../../src/terminal/option-values.ts'
import type { Clock } from '../../../src/core/clock.ts'
import { redactUrl } from '../../../src/core/redaction/redact.ts'
import { hour, renderDuration } from '../../../src/core/units.ts'
import { QueryError } from '../../client/errors.ts'
import { DEFAULT_RETRIES, DEFAULT_TIMEOUT_MS, type QueryClient, type Retry } from '../../client/types.ts'
import { EmptySecretError, readSecretFile } from '../../../src/sources/credential-file.ts'
import { topicOf as topicOfEvent } from '../../tokens/signatures.ts'

const KEY_VARIABLE = 'CHAIN_AGENT_API_KEY'

interface ServiceDependencies {
  readonly onRetry?: ((retry: Retry) => void) | undefined
  readonly clock: Clock
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Reads the API key and creates a client. Throws a QueryError('auth') for an empty or invalid key. */
export const openService = async (
  { url, apiKeyFile, apiKeyHeader: header, timeout: timeoutMs, retries }: ServiceOptions,
  { clock, env, onRetry }: ServiceDependencies,
): Promise<QueryClient> => {
  const apiKey = apiKeyFile === undefined ? env[KEY_VARIABLE] : await readKeyFile(apiKeyFile)
  if (apiKey?.trim() === '') {
    throw new QueryError('auth', {
      doing: 'ask the query service',
      happened: `the API key in ${KEY_VARIABLE} is empty`,
      advice: `set ${KEY_VARIABLE} to the key, use --api-key-file, or unset it for a service without keys`,
    })
  }
  const { createQueryClient } = await import('../../client/client.ts')
  return createQueryClient({ url, apiKey: apiKey?.trim() ?? null, header, clock, timeoutMs, retries, onRetry })
}

const readKeyFile = async (file: string): Promise<string> => {
  try {
    return await readSecretFile(file, 'API key')
  } catch (error) {
    if (!(error instanceof EmptySecretError)) throw error
    throw new QueryError('auth', {
      doing: 'ask the query service',
      happened: `the file ${file} with the API key is empty`,
      advice: 'write the key into the file, or omit --api-key-file for a service without keys',
    })
  }
}

/** The address of a query service and the options for its client. */
export interface ServiceOptions {
  readonly url: string
  /** By default the key is that of the environment variable, if it is set. */
  readonly apiKeyFile?: string
  readonly apiKeyHeader?: string
  /** In milliseconds, for one request. */
  readonly timeout?: number
  readonly retries?: number
}

export const serviceOptions = (command: Command): Command =>
  command
    .requiredOption(
      '--url <url>',
      'address of the query service, without /query and /height; or of an RPC with eth_queryLogs, which a coming release of the node has',
      readAddressOf('--url'),
    )
    .option('--api-key-file <file>', 'file with the API key; default: the variable CHAIN_AGENT_API_KEY')
    .option('--api-key-header <name>', 'header for the API key; default: Authorization: Bearer', readHeader)
    .option(
      '--timeout <duration>',
      `timeout of one request, for example 10s; default ${renderDuration(DEFAULT_TIMEOUT_MS)}`,
      readDuration({ min: 1, max: hour, example: '10s' }),
    )
    .option(
      '--retries <number>',
      `how many times a failed request is sent again; default ${DEFAULT_RETRIES}, 0 for never`,
      readNumber(0, MAX_RETRIES),
    )

export const EXIT_CODES_NOTE = `A request that fails is sent again after up to 5 s, and after a rate limit when
the service accepts requests again, at most 15 minutes later; each wait is
reported on standard error. A connection that is refused on this host
fails at once, unless the service has answered before.

Exit codes: 0 everything was read, 1 failed, 2 usage error, 3 the API key was
rejected, 5 the service returned no usable response or makes no progress, 130
interrupted.`

/** Parses an http or https address. The error shows it redacted, because it may contain a secret. */
export const readAddressOf =
  (option: '--url' | '--rpc') =>
  (text: string): string => {
    const invalid = (why: string): UsageError =>
      new UsageError(`${option}: expected ${why}\n  it is: ${redactUrl(text)}`)
    const url = URL.canParse(text) ? new URL(text) : undefined
    if (!url || !/^https?:$/.test(url.protocol)) {
      throw invalid('an http or https address, like https://query.example')
    }
    // The list of processes shows it to every user of the host.
    if (url.username !== '' || url.password !== '') {
      throw invalid(`an address without a user name${option === '--url' ? '; use --api-key-file for a key' : ''}`)
    }
    // The client appends paths to it.
    if (option === '--url' && (url.search !== '' || url.hash !== '')) {
      throw invalid('an address without a query string; use --api-key-file for a key')
    }
    return text
  }

/** Headers with a meaning in HTTP itself. */
const RESERVED = /^(?:host|connection|content-.*|transfer-encoding|accept.*|te|trailer|upgrade|expect|user-agent)$/i

const readHeader = (text: string): string => {
  if (/^[A-Za-z0-9-]{1,64}$/.test(text) && !RESERVED.test(text)) return text
  throw new InvalidArgumentError('expected the name of a header, for example X-Api-Key')
}

const MAX_RETRIES = 100

export const readBlock = (text: string): number => {
  const block = Number(text)
  if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(block)) return block
  throw new InvalidArgumentError('expected a block number')
}

/** Parses an address in upper or lower case; returns it in lower case. */
export const readAddress = (text: string): string => {
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) return text.toLowerCase()
  throw new InvalidArgumentError('expected an address: 0x and 40 hex digits')
}

/** Alternatives for each position. */
export type Topics = readonly (readonly string[])[]

/**
 * Parses `[POSITION:]VALUE[,VALUE]`. A value is a topic of 32 bytes, an address, which is padded with zeros, or an
 * event signature, which is hashed. Values for the same position are alternatives.
 */
export const readTopic = (text: string, before: Topics): Topics => {
  const [, named, list = ''] = /^(?:([0-3]):)?(.+)$/s.exec(text.trim()) ?? []
  if (list === '' || /^\d+:/.test(list)) {
    throw new InvalidArgumentError('expected [POSITION:]VALUE[,VALUE], with a position from 0 to 3')
  }
  const position = Number(named ?? 0)
  const values = splitTopLevel(list).map((value) => topicOf(value.trim()))
  return Array.from({ length: Math.max(before.length, position + 1) }, (_, at) => [
    ...new Set([...(before[at] ?? []), ...(at === position ? values : [])]),
  ])
}

const topicOf = (value: string): string => {
  if (/^0x[0-9a-fA-F]{64}$/.test(value)) return value.toLowerCase()
  if (/^0x[0-9a-fA-F]{40}$/.test(value)) return `0x${'0'.repeat(24)}${value.slice(2).toLowerCase()}`
  const signature = canonicalSignatureOf(value)
  if (signature !== undefined) return topicOfEvent(signature)
  throw new InvalidArgumentError(
    'expected a topic (0x and 64 hex digits), an address, or an event like "Transfer(address,address,uint256)"',
  )
}

/** The canonical signature of an event: of `event Transfer(address indexed from, …)` only the name and types. */
const canonicalSignatureOf = (text: string): string | undefined => {
  const [, name, list = ''] = /^(?:event\s+)?([A-Za-z_$][\w$]*)\s*\((.*)\);?$/s.exec(text) ?? []
  const types = list.trim() === '' ? '()' : tupleOf(list)
  return name === undefined || types === undefined ? undefined : `${name}${types}`
}

/** The canonical type of a parameter; undefined if it does not begin with a type. */
const typeOf = (parameter: string): string | undefined => {
  const [, type = '', arrays = ''] = /^\s*(\(.*\)|[a-z][a-z0-9]*)((?:\[\d*\])*)(?:\s+[\w$]+)*\s*$/.exec(parameter) ?? []
  const base = type.startsWith('(') ? tupleOf(type.slice(1, -1)) : elementaryTypeOf(type)
  return base === undefined ? undefined : `${base}${arrays}`
}

const tupleOf = (list: string): string | undefined => {
  const types = splitTopLevel(list).map(typeOf)
  return types.includes(undefined) ? undefined : `(${types.join(',')})`
}

/** Validated because the hash of a misspelt type would match no log. */
const elementaryTypeOf = (type: string): string | undefined => {
  if (/^(?:address|bool|string|function|bytes(?:[1-9]|[12]\d|3[0-2])?)$/.test(type)) return type
  const [, kind, bits = '256'] = /^(u?int)([1-9]\d*)?$/.exec(type) ?? []
  return kind !== undefined && Number(bits) % 8 === 0 && Number(bits) <= 256 ? `${kind}${bits}` : undefined
}

/** Splits at the commas outside parentheses. */
const splitTopLevel = (text: string): readonly string[] => {
  const parts: string[] = []
  let depth = 0
  let from = 0
  for (const [at, character] of [...text].entries()) {
    if (character === '(') depth += 1
    if (character === ')') depth -= 1
    if (character !== ',' || depth > 0) continue
    parts.push(text.slice(from, at))
    from = at + 1
  }
  return [...parts, text.slice(from)]
}
