import { SourceError } from '../core/errors.ts'
import { redactUrl } from '../core/redact.ts'
import type { Endpoint } from './endpoint.ts'

interface Request {
  readonly url: string
  readonly init?: { readonly method: 'POST'; readonly body: string }
}

/** As the agent asks over HTTP; the simulator's endpoints are found by scheme, host and port. */
type StandInAsk = (request: Request) => Promise<{ readonly status: number; readonly text: string }>

/**
 * Answers the agent's requests by calling the simulator's endpoints, without a wire. Where nobody listens,
 * the connection is refused.
 */
export const createStandInAsk =
  (endpoints: ReadonlyMap<string, Endpoint>): StandInAsk =>
  async ({ url, init }) => {
    const { origin, pathname: path } = new URL(url)
    const endpoint = endpoints.get(origin)
    if (!endpoint?.isOpen()) {
      throw new SourceError({
        doing: `request ${redactUrl(url)}`,
        happened: 'no connection (ECONNREFUSED)',
      })
    }
    return endpoint.answer({ method: init?.method ?? 'GET', path, body: init?.body ?? '' })
  }
