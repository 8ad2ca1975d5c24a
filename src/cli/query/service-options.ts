import { type Command, InvalidArgumentError } from 'commander'
import { redactUrl } from '../../core/redact.ts'
import { carriesKey } from '../../query/client/base.ts'
import type { Service } from '../../tasks/query/service.ts'
import { UsageError } from '../usage-error.ts'

/** The options of every command that asks a query service. */
export interface ServiceOptions {
  readonly url: string
  readonly apiKeyFile?: string
  readonly apiKeyHeader?: string
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

export const serviceOf = ({ url, apiKeyFile, apiKeyHeader }: ServiceOptions): Service => ({
  url,
  apiKeyFile: apiKeyFile ?? null,
  apiKeyHeader: apiKeyHeader ?? null,
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
