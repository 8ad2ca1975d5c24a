import { SourceError } from '../core/errors.ts'
import { type Answer, type Ask, SilenceError } from './http.ts'

/** The agent that runs on this host, as it is to be asked. Null where nobody listens. */
export interface AgentApi {
  /** A page of it, by its path. Throws a SourceError when somebody answers who is no agent. */
  get(path: string, signal: AbortSignal): Promise<string | null>
}

/** An agent on loopback answers at once; a host that is busy, in some seconds. */
const TIMEOUT_MS = 10_000

export const createAgentApi = (
  ask: Ask,
  { host, port }: { readonly host: string; readonly port: number },
): AgentApi => {
  // What listens on every address is asked on this host's own.
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  const base = `http://${name.includes(':') ? `[${name}]` : name}:${port}`
  return {
    get: async (path, signal) => {
      const answer = await attempt(ask, `${base}${path}`, signal)
      if (answer === null) return null
      if (answer.status === 200) return answer.text
      throw new SourceError({
        doing: `ask the agent at ${base}`,
        happened: `HTTP status ${answer.status} for ${path}`,
        advice:
          'something else listens there, or an older agent: see `listen:` in the configuration',
      })
    },
  }
}

const attempt = async (ask: Ask, url: string, signal: AbortSignal): Promise<Answer | null> => {
  try {
    return await ask({ url, accept: '*/*', timeout: TIMEOUT_MS, signal })
  } catch (error) {
    // An agent that is ending cuts a connection; nobody at all refuses it.
    if (error instanceof SilenceError && isRefused(error)) return null
    throw error
  }
}

const isRefused = ({ silence, detail }: SilenceError): boolean =>
  silence === 'refused' && detail === 'ECONNREFUSED'
