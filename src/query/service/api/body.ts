import { type IncomingMessage } from 'node:http'
import { Refusal } from './refusal.ts'

/** Throws where the body is not said to be JSON as it stands. */
export const checkType = ({ headers }: IncomingMessage): void => {
  const [type = '', ...parameters] = (headers['content-type'] ?? '')
    .split(';')
    .map((part) => part.trim().toLowerCase())
  const isPlain = parameters.every((part) => part === '' || /^charset="?utf-?8"?$/.test(part))
  if (type !== 'application/json' || !isPlain)
    throw new Refusal('media_type', 'send the body as Content-Type: application/json')
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity')
    throw new Refusal('media_type', 'send the body as it is, not packed')
}

/**
 * The body, up to so many bytes. What comes beyond that is read and thrown away while the answer goes out: on a
 * connection that was cut the client would not see it. The server's own deadline ends it.
 */
export const readBody = async (request: IncomingMessage, most: number): Promise<Buffer> => {
  const tooLarge = new Refusal('too_large', `the body is larger than ${most} bytes`)
  if (Number(request.headers['content-length'] ?? 0) > most) throw tooLarge
  const chunks: Buffer[] = []
  let size = 0
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > most) {
        chunks.length = 0
        reject(tooLarge)
      } else chunks.push(chunk)
    })
    request.on('end', () => {
      resolve(Buffer.concat(chunks))
    })
    request.on('error', () => {
      // Nobody is there to read this.
      reject(new Refusal('bad_json', 'the body broke off'))
    })
  })
}
