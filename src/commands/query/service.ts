import type { Clock } from '../../core/clock.ts'
import { createQueryClient } from '../../query/client/client.ts'
import { QueryError } from '../../query/client/errors.ts'
import type { QueryClient, Retry } from '../../query/client/types.ts'
import { EmptySecretError, readSecretFile } from '../../sources/credential-file.ts'

/** A query service, and how one is let in. */
export interface Service {
  readonly url: string
  /** The file with the key; null where the environment may have one. */
  readonly apiKeyFile: string | null
  /** The header that the key goes into; null for `Authorization: Bearer`. */
  readonly apiKeyHeader: string | null
  /** For one request, and how often it is sent again; undefined for the defaults of the client. */
  readonly timeoutMs?: number | undefined
  readonly retries?: number | undefined
}

/** Where the key is read when no file is named. */
const KEY_VARIABLE = 'CHAIN_AGENT_API_KEY'

interface ServiceDependencies {
  readonly onRetry?: ((retry: Retry) => void) | undefined
  readonly clock: Clock
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The client of a service, with its key. Throws a QueryError('auth') where there is a key and it can not be one. */
export const openService = async (
  { url, apiKeyFile, apiKeyHeader, timeoutMs, retries }: Service,
  { clock, env, onRetry }: ServiceDependencies,
): Promise<QueryClient> => {
  const apiKey = apiKeyFile === null ? (env[KEY_VARIABLE] ?? null) : await readKeyFile(apiKeyFile)
  if (apiKey?.trim() === '') {
    throw new QueryError('auth', {
      doing: 'ask the query service',
      happened: `the API key in ${KEY_VARIABLE} is empty`,
      advice: `set ${KEY_VARIABLE}, or name a file with --api-key-file; unset it for a service without keys`,
    })
  }
  return createQueryClient({
    url,
    apiKey: apiKey?.trim() ?? null,
    ...(apiKeyHeader !== null && { header: apiKeyHeader }),
    clock,
    timeoutMs,
    retries,
    onRetry,
  })
}

const readKeyFile = async (file: string): Promise<string> => {
  try {
    return await readSecretFile(file, 'API key')
  } catch (error) {
    if (!(error instanceof EmptySecretError)) throw error
    throw new QueryError('auth', {
      doing: 'ask the query service',
      happened: `the file ${file} with the API key is empty`,
      advice: 'write the key into it, or leave --api-key-file out for a service without keys',
    })
  }
}
