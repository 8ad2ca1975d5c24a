import type { Answer, Ask } from './http.ts'
import { readSecretFile } from './secret-file.ts'

/** The event query service, as far as the agent asks it: its height. */
export interface Query {
  /** Throws a SilenceError when there is no answer, and a SourceError where the key cannot be read. */
  height(signal: AbortSignal): Promise<Answer>
}

interface Service {
  readonly url: string
  /** Read anew each time, so that a key can be changed. */
  readonly apiKeyFile: string | null
}

/** `timeout` in milliseconds bounds each call. */
export const createQuery = (ask: Ask, { url, apiKeyFile }: Service, timeout: number): Query => ({
  height: async (signal) =>
    ask({
      url: `${url.replace(/\/+$/, '')}/height`,
      ...(apiKeyFile !== null && { bearer: await readSecretFile(apiKeyFile, 'API key') }),
      timeout,
      signal,
    }),
})
