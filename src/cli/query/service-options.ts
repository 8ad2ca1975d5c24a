import { type Command, InvalidArgumentError } from 'commander'
import type { Service } from '../../tasks/query/service.ts'

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
      readUrl,
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

const readUrl = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new InvalidArgumentError('expected an http or https address, like https://query.example')
  }
  // It would stand in the list of processes, where anybody reads it.
  if (url.username !== '' || url.password !== '') {
    throw new InvalidArgumentError(
      'expected an address without a user in it; keys have --api-key-file',
    )
  }
  return text
}

const readHeader = (text: string): string => {
  if (/^[A-Za-z0-9-]{1,64}$/.test(text)) return text
  throw new InvalidArgumentError('expected the name of a header, like X-Api-Key')
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
