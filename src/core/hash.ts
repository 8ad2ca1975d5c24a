import { createHash } from 'node:crypto'

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** A fingerprint of a text or of bytes: 32 hex digits that reveal nothing of the content. */
export const fingerprint = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex').slice(0, 32)
