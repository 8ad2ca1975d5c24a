import { SourceError } from '../core/errors.ts'
import { type HttpResponse, type SendRequest, NoResponseError } from './http.ts'

/** The API of the agent that runs on this host. */
export interface AgentApi {
  /**
   * Requests a path. Returns null if the connection is refused: the agent is not running. Throws a SourceError if the
   * response is not that of an agent.
   */
  get(path: string, signal: AbortSignal): Promise<string | null>
}

/** An agent on loopback responds at once; on a busy host within seconds. */
const TIMEOUT_MS = 10_000

export const createAgentApi = (
  ask: SendRequest,
  { host, port }: { readonly host: string; readonly port: number },
): AgentApi => {
  // For a wildcard address, connect to the loopback address.
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  const base = `http://${name.includes(':') ? `[${name}]` : name}:${port}`
  return {
    get: async (path, signal) => {
      const answer = await attempt(ask, `${base}${path}`, signal)
      if (answer === null) return null
      if (answer.status === 200) return answer.text
      throw new SourceError({
        doing: `request data from the agent at ${base}`,
        happened: `HTTP status ${answer.status} for ${path}`,
        advice: 'another program or an older agent listens there: check `listen:` in the configuration',
      })
    },
  }
}

const attempt = async (ask: SendRequest, url: string, signal: AbortSignal): Promise<HttpResponse | null> => {
  try {
    return await ask({ url, accept: '*/*', timeout: TIMEOUT_MS, signal })
  } catch (error) {
    // An agent that is stopping closes the connection; only a refused connection means that no agent runs.
    if (error instanceof NoResponseError && isRefused(error)) return null
    throw error
  }
}

const isRefused = ({ silence, detail }: NoResponseError): boolean => silence === 'refused' && detail === 'ECONNREFUSED'
