import type { Clock } from '../../core/clock.ts'
import { createQueryClient } from '../../query/client/client.ts'
import type { QueryClient } from '../../query/client/types.ts'
import { readSecretFile } from '../../sources/credential-file.ts'

/** Makes a client of a query service, which has connections of its own. */
export type Connect = typeof createQueryClient

interface Options {
  readonly url: string | null
  readonly apiKeyFile: string | null
  readonly clock: Clock
  /** In a rehearsal, where time is moved by hand, another. */
  readonly connect?: Connect | undefined
}

/** Whoever asks again every minute need not insist. */
const RETRIES = 2

/** One client for one key, so that its connections and its budget of requests are shared. */
export const keptClient = (options: Options): (() => Promise<QueryClient>) => {
  const { url, apiKeyFile, clock, connect = createQueryClient } = options
  let kept: { readonly apiKey: string | null; readonly client: QueryClient } | undefined
  return async () => {
    const apiKey = apiKeyFile === null ? null : await readSecretFile(apiKeyFile, 'API key')
    if (kept?.apiKey !== apiKey || !kept) {
      kept = {
        apiKey,
        client: connect({ url: url ?? '', apiKey, clock, retries: RETRIES }),
      }
    }
    return kept.client
  }
}
