import { describeStatus } from '../collectors/shared/request.ts'
import { errorOf } from '../core/error-body.ts'
import { ParseError, SourceError } from '../core/errors.ts'
import { isObject, tryJson } from '../core/json.ts'

/** Alertmanager answers with an empty body or JSON. Anything else is of another site, as the sign-in page of a proxy. */
export const isAcceptedAlert = (body: string): boolean => {
  const text = body.trim()
  if (text === '') return true
  const value = tryJson(text)
  return value !== undefined && !reportsError(value)
}

/** As of healthchecks.io, which answers `OK (not found)` and `OK (rate limited)`. */
const HEARTBEAT_REFUSAL = /\b(?:not found|rate.?limited)\b/i

/** Services for heartbeats answer with a short text of their own or JSON; a page is of another site. */
export const isAcceptedHeartbeat = (body: string): boolean => {
  const text = body.trim()
  const value = tryJson(text)
  return (
    !text.startsWith('<') &&
    !HEARTBEAT_REFUSAL.test(text) &&
    !(isObject(value) && value['ok'] === false) &&
    !reportsError(value)
  )
}

const reportsError = (value: unknown): boolean => isObject(value) && errorOf(value, Object.keys(value)) !== undefined

/**
 * `accepted`, or why what was sent is not: a status of 2xx with a body that is not accepted is a refusal, too. A failure
 * is a reading, not an error: the rest of the reading is still exported.
 */
export const deliveryState = async (
  response: Promise<{ readonly status: number; readonly text: string }>,
  isAccepted: (body: string) => boolean,
): Promise<string> => {
  try {
    const received = await response
    const isOk = received.status >= 200 && received.status < 300
    return isOk && isAccepted(received.text) ? 'accepted' : `refused: ${describeStatus(received)}`
  } catch (error) {
    if (error instanceof SourceError || error instanceof ParseError) return error.summary
    throw error
  }
}
