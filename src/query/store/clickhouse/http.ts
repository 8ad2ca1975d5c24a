import { type IncomingMessage, request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { type Clock, linkAbort } from '../../../core/clock.ts'
import { asError, errorCode } from '../../../core/errors.ts'
import type { Secret } from '../../../core/secret.ts'
import { StoreError } from '../errors.ts'

export interface StatementRequest {
  readonly secure: boolean
  /** HOST:PORT. */
  readonly host: string
  readonly user: string
  readonly password: Secret | undefined
  readonly parameters: Readonly<Record<string, string>>
  readonly body: Buffer | string
  /** For the whole response, in milliseconds. */
  readonly timeout: number
  readonly signal: AbortSignal
  /** Receives a chunk; false stops the response. */
  readonly take: (chunk: Buffer) => boolean
}

/** Largest size of an error message, in bytes. */
const MAX_ERROR_BYTES = 16 * 1024

/**
 * Error codes for which a retry fails as well: unknown column, identifier, function, table, database, setting, cluster;
 * wrong user or password; no permission; read-only.
 */
const PERMANENT_CODES = ['16', '46', '47', '60', '81', '115', '164', '170', '192', '193', '194', '497', '516']

/** Sends one statement over HTTP. Each has its own connection, so that an interrupted statement is never sent twice. */
export const createSendStatement =
  (clock: Clock) =>
  async (statement: StatementRequest): Promise<void> => {
    const { host, signal, timeout, take } = statement
    const doing = `query ClickHouse at ${host}`
    const linked = linkAbort(signal)
    void clock.sleep(timeout, linked.signal).then(linked.abort)
    try {
      const response = await responseOf(statement, linked.signal)
      const chunks: AsyncIterable<Buffer> = response
      if (response.statusCode !== 200) throw serverError(statement, doing, await shortTextOf(chunks))
      for await (const chunk of chunks) if (!take(chunk)) return
    } catch (error) {
      if (error instanceof StoreError) throw error
      if (signal.aborted) throw new StoreError('aborted', { doing, happened: 'the operation was aborted' })
      if (linked.signal.aborted) throw new StoreError('unavailable', { doing, happened: 'request timed out' })
      const happened = `connection failed (${errorCode(error, asError(error).message)})`
      throw new StoreError('unavailable', { doing, happened })
    } finally {
      linked.abort()
    }
  }

const responseOf = async (statement: StatementRequest, signal: AbortSignal): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const { secure, host, user, password, parameters, body } = statement
    const address = `${secure ? 'https' : 'http'}://${host}/?${String(new URLSearchParams(parameters))}`
    const headers = {
      'content-length': Buffer.byteLength(body),
      'x-clickhouse-user': user,
      ...(password !== undefined && { 'x-clickhouse-key': password.reveal() }),
    }
    const options = { method: 'POST', headers, agent: false as const, signal }
    const request = (secure ? requestSecure : requestPlain)(address, options, resolve)
    request.on('error', reject)
    request.end(body)
  })

const shortTextOf = async (chunks: AsyncIterable<Buffer>): Promise<string> => {
  let text = ''
  for await (const chunk of chunks) {
    text += chunk.toString('utf8')
    if (text.length > MAX_ERROR_BYTES) break
  }
  return text
}

const serverError = ({ password }: StatementRequest, doing: string, message: string): StoreError => {
  const code = /\bCode: (\d+)/.exec(message)?.[1]
  const evidence = password === undefined ? message : password.redactFrom(message)
  const happened = code === undefined ? 'the server returned an error' : `the server returned error code ${code}`
  const kind = code !== undefined && PERMANENT_CODES.includes(code) ? 'broken' : 'unavailable'
  return new StoreError(kind, { doing, happened, evidence })
}
