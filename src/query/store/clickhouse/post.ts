import { request as requestPlain, type IncomingMessage } from 'node:http'
import { request as requestSecure } from 'node:https'
import type { Clock } from '../../../core/clock.ts'
import { asError } from '../../../core/outcome.ts'
import type { Secret } from '../../../core/secret.ts'
import { StoreError } from '../errors.ts'

export interface Post {
  readonly secure: boolean
  /** HOST:PORT. */
  readonly host: string
  readonly user: string
  readonly password: Secret | undefined
  readonly parameters: Readonly<Record<string, string>>
  readonly body: Buffer | string
  /** In milliseconds, for the whole answer. */
  readonly timeout: number
  readonly signal: AbortSignal
  /** False: that was enough. */
  readonly take: (chunk: Buffer) => boolean
}

/** What a server says of a failure is short. */
const MAX_COMPLAINT = 16 * 1024

/**
 * Codes with which a request fails tomorrow, too: unknown column, identifier, function, table, database,
 * setting, cluster; wrong user or password; no rights; read-only.
 */
const FOR_GOOD = [
  '16',
  '46',
  '47',
  '60',
  '81',
  '115',
  '164',
  '170',
  '192',
  '193',
  '194',
  '497',
  '516',
]

/** One statement over HTTP. Each has a connection of its own: what was cut off is never sent twice. */
export const createPost =
  (clock: Clock) =>
  async (post: Post): Promise<void> => {
    const { host, signal, timeout, take } = post
    const doing = `ask ClickHouse at ${host}`
    const ended = new AbortController()
    const cancel = new AbortController()
    let late = false
    // By hand: `AbortSignal.any` on a signal that lives as long as we do leaks on Node 20.
    const stop = (): void => {
      cancel.abort()
    }
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    void clock.sleep(timeout, ended.signal).then(() => {
      if (ended.signal.aborted) return
      late = true
      stop()
    })
    try {
      const response = await answerOf(post, cancel.signal)
      const chunks: AsyncIterable<Buffer> = response
      if (response.statusCode !== 200) throw complaint(post, doing, await shortTextOf(chunks))
      for await (const chunk of chunks) if (!take(chunk)) return
    } catch (error) {
      if (error instanceof StoreError) throw error
      if (signal.aborted)
        throw new StoreError('aborted', { doing, happened: 'nobody waits for it' })
      if (late) throw new StoreError('unavailable', { doing, happened: 'no answer in time' })
      const happened = `no connection, or it was cut (${detailOf(error)})`
      throw new StoreError('unavailable', { doing, happened })
    } finally {
      signal.removeEventListener('abort', stop)
      ended.abort()
      cancel.abort()
    }
  }

const answerOf = async (post: Post, signal: AbortSignal): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const { secure, host, user, password, parameters, body } = post
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
    if (text.length > MAX_COMPLAINT) break
  }
  return text
}

const complaint = ({ password }: Post, doing: string, said: string): StoreError => {
  const code = /\bCode: (\d+)/.exec(said)?.[1]
  const evidence = password === undefined ? said : password.redactFrom(said)
  const happened = code === undefined ? 'it refused' : `it refused with code ${code}`
  const kind = code !== undefined && FOR_GOOD.includes(code) ? 'broken' : 'unavailable'
  return new StoreError(kind, { doing, happened, evidence })
}

const detailOf = (thrown: unknown): string => {
  const error = asError(thrown)
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message
}
