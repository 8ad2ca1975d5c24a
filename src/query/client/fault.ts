/** Why a request came to nothing, and so what is to be done: again, less at a time, or not at all. */
export interface Fault {
  readonly kind: 'retry' | 'shrink' | 'protocol' | 'fatal'
  readonly happened: string
  /** Nothing came in time: less at a time may. */
  readonly isLate?: boolean
  /** The host refused the connection: no process listens on that port. */
  readonly isRefused?: boolean
}

export class FaultError extends Error {
  readonly fault: Fault
  constructor(fault: Fault) {
    super(fault.happened)
    this.fault = fault
  }
}

/** The code of the system, where it told one. */
export const codeOf = (error: Error): string =>
  'code' in error && typeof error.code === 'string' ? error.code : error.name

const CONNECTION_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  ETIMEDOUT: 'connection timed out',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ENOTFOUND: 'host name not found',
  EAI_AGAIN: 'DNS lookup failed',
}

const CERTIFICATE =
  /^(?:CERT_|ERR_TLS|ERR_SSL|EPROTO$|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH)/

/** What a failed connection means for the next attempt. */
export const faultOfConnection = (error: Error): Fault => {
  const code = codeOf(error)
  if (CERTIFICATE.test(code)) {
    return { kind: 'fatal', happened: `no trusted connection (${code})` }
  }
  if (code.startsWith('HPE_')) {
    return { kind: 'protocol', happened: `what came is not HTTP (${code})` }
  }
  return {
    kind: 'retry',
    happened: `no connection (${CONNECTION_ERRORS[code] ?? code})`,
    isRefused: code === 'ECONNREFUSED',
  }
}
