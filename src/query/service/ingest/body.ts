import { isAscii } from 'node:buffer'
import { type IncomingMessage } from 'node:http'
import { gunzip } from 'node:zlib'

/** More came than is taken. */
export class OversizeError extends Error {
  override name = 'OversizeError'
}

/** The answer as text, unpacked; an OversizeError where either form of it is larger than `max` bytes. */
export const readText = async (message: IncomingMessage, max: number): Promise<string> => {
  const bytes = await readBytes(message, max)
  const encoding = message.headers['content-encoding']?.trim().toLowerCase() ?? ''
  const isPacked = encoding === 'gzip' || encoding === 'x-gzip'
  const whole = isPacked ? await unpack(bytes, max) : bytes
  // What is plain, as all but some errors are, is read three times as fast.
  return whole.toString(isAscii(whole) ? 'latin1' : 'utf8')
}

const readBytes = async (message: IncomingMessage, max: number): Promise<Buffer> => {
  const chunks: Buffer[] = []
  let size = 0
  const stream: AsyncIterable<Buffer> = message
  for await (const chunk of stream) {
    size += chunk.length
    if (size > max) {
      message.destroy()
      throw new OversizeError()
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Fewer and larger pieces are half the work. */
const CHUNK = 262_144

const unpack = async (bytes: Buffer, maxOutputLength: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    gunzip(bytes, { maxOutputLength, chunkSize: CHUNK }, (error, whole) => {
      if (error === null) resolve(whole)
      else reject(codeOf(error) === 'ERR_BUFFER_TOO_LARGE' ? new OversizeError() : error)
    })
  })

/** The code of the system, where it told one. */
export const codeOf = (error: Error): string =>
  'code' in error && typeof error.code === 'string' ? error.code : error.name
