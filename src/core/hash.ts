import { createHash } from 'node:crypto'

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** A fingerprint of a text or of bytes: 32 hex digits that reveal nothing of the content. Parts are one content. */
export const fingerprint = (...parts: readonly (string | Uint8Array)[]): string => {
  const growing = createFingerprint()
  for (const part of parts) growing.add(part)
  return growing.value()
}

/** The fingerprint of a content that grows: neither adding to it nor reading its value reads the content again. */
export const createFingerprint = () => {
  let hash = createHash('sha256')
  return {
    add: (part: string | Uint8Array): void => {
      hash.update(part)
    },
    clear: (): void => {
      hash = createHash('sha256')
    },
    value: (): string => hash.copy().digest('hex').slice(0, 32),
  }
}
