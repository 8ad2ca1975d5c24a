import { type Fault } from './fault.ts'
import { askedToWait, retryAfter } from './hints.ts'
import { type Reply } from './transport.ts'

/** What an answer means for what is done next. */
export type Verdict =
  | { readonly kind: 'ok'; readonly body: Buffer }
  | {
      readonly kind: 'auth' | 'fatal' | 'protocol' | 'retry' | 'shrink'
      readonly happened: string
      readonly evidence?: string
      readonly isLate?: boolean
      readonly isRefused?: boolean
    }
  | {
      readonly kind: 'wait'
      readonly happened: string
      /** Undefined where the service does not say how long. */
      readonly ms: number | undefined
      readonly evidence?: string
    }

export const classify = (came: Reply | Fault, now: number): Verdict => {
  if ('kind' in came) return came
  const { status, headers, body } = came
  const happened = `it answered ${status}`
  const evidence = body.toString('utf8')
  if (status === 200) return { kind: 'ok', body }
  if (status === 401 || status === 403) return { kind: 'auth', happened, evidence }
  if (status === 413) return { kind: 'shrink', happened, evidence }
  if (status === 429) return { kind: 'wait', happened, ms: askedToWait(headers, now), evidence }
  if (status === 408 || status === 425) return { kind: 'retry', happened, evidence }
  if (status >= 500) {
    const ms = status === 503 ? retryAfter(headers, now) : undefined
    return ms === undefined
      ? { kind: 'retry', happened, evidence }
      : { kind: 'wait', happened, ms, evidence }
  }
  if (status >= 300 && status < 400) {
    return {
      kind: 'fatal',
      happened: `${happened}: a redirect`,
      evidence: headers['location'] ?? '',
    }
  }
  return { kind: status < 300 ? 'protocol' : 'fatal', happened, evidence }
}
