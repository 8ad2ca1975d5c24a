import { type IncomingMessage } from 'node:http'
import { brotliDecompress, gunzip } from 'node:zlib'
import { asError } from '../../core/outcome.ts'
import { codeOf, FaultError } from './fault.ts'

/** Fewer and larger pieces are half the work. */
const CHUNK = 262_144

const tooLarge = (): FaultError =>
  new FaultError({ kind: 'shrink', happened: 'the answer is larger than what is taken' })

/** The bytes as they come. More than `max` are refused, or cut off where the beginning is enough. */
export const readBytes = async (
  message: IncomingMessage,
  max: number,
  beyond: 'refuse' | 'cut',
): Promise<Buffer> => {
  const chunks: Buffer[] = []
  let size = 0
  const stream: AsyncIterable<Buffer> = message
  for await (const chunk of stream) {
    size += chunk.length
    chunks.push(chunk)
    if (size <= max) continue
    message.destroy()
    if (beyond === 'refuse') throw tooLarge()
    break
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
}

/** What cannot be decompressed whole is no answer: nothing of it is used. */
export const decompress = async (
  bytes: Buffer,
  encoding: string | undefined,
  max: number,
): Promise<Buffer> => {
  const name = (encoding ?? '').trim().toLowerCase()
  if (name === '' || name === 'identity') return bytes
  if (name !== 'gzip' && name !== 'x-gzip' && name !== 'br') {
    throw new FaultError({ kind: 'protocol', happened: 'the answer is packed as nobody asked for' })
  }
  try {
    return await inflate(name === 'br' ? 'br' : 'gzip', bytes, max)
  } catch (error) {
    const code = codeOf(asError(error))
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge()
    throw new FaultError({ kind: 'protocol', happened: `the answer cannot be unpacked (${code})` })
  }
}

const inflate = async (
  packing: 'gzip' | 'br',
  bytes: Buffer,
  maxOutputLength: number,
): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const done = (error: Error | null, whole: Buffer): void => {
      if (error === null) resolve(whole)
      else reject(error)
    }
    const options = { maxOutputLength, chunkSize: CHUNK }
    if (packing === 'br') brotliDecompress(bytes, options, done)
    else gunzip(bytes, options, done)
  })
