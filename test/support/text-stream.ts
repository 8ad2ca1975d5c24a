import { Writable } from 'node:stream'

export interface TextStream {
  readonly stream: Writable
  /** What was written so far, write by write. */
  readonly chunks: readonly string[]
  text(): string
}

/** A stream that keeps what is written to it; `onWrite` is called after each write. */
export const textStream = (onWrite: () => void = () => undefined): TextStream => {
  const chunks: string[] = []
  const stream = new Writable({
    write: (chunk: Buffer, _, done) => {
      chunks.push(chunk.toString())
      onWrite()
      done()
    },
  })
  return { stream, chunks, text: () => chunks.join('') }
}
