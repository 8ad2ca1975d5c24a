import { type IncomingMessage } from 'node:http'
import { gzip } from 'node:zlib'
import { type Reply } from './reply.ts'

const compress = async (body: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    gzip(body, { level: 1 }, (error, bytes) => {
      if (error === null) resolve(bytes)
      else reject(error)
    })
  })

/** Below that the work is worth more than the bytes. */
const LEAST = 1024

/** Packed where the client asks for it: that costs more than making the answer, in a thread of its own. */
export const packed = async (request: IncomingMessage, reply: Reply): Promise<Reply> => {
  if (reply.status !== 200) return reply
  const headers = { ...reply.headers, vary: 'Accept-Encoding' }
  if (reply.body.length < LEAST || !takesGzip(request.headers['accept-encoding']))
    return { ...reply, headers }
  return {
    ...reply,
    headers: { ...headers, 'content-encoding': 'gzip' },
    body: await compress(reply.body),
  }
}

/** `gzip;q=0` is a no; `*` is a yes only where gzip is not named. */
export const takesGzip = (accepted: string | string[] | undefined): boolean => {
  const wanted = new Map(
    String(accepted ?? '')
      .toLowerCase()
      .split(',')
      .map((part): readonly [string, boolean] => {
        const [name = '', ...parameters] = part.split(';').map((text) => text.trim())
        return [name, !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))]
      }),
  )
  return wanted.get('gzip') ?? wanted.get('x-gzip') ?? wanted.get('*') ?? false
}
