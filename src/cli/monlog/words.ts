import type { KeyNames } from '../../config/names.ts'
import { strikeLog } from '../../core/redact-log.ts'

/** Whose key it is, or its ends: `02ab..cd12`. */
export type NameOf = (key: string) => string

export const createNameOf =
  (names: KeyNames): NameOf =>
  (key) => {
    const bare = key.replace(/^0x/i, '').toLowerCase()
    return names.get(bare) ?? (bare.length > 12 ? `${bare.slice(0, 4)}..${bare.slice(-4)}` : bare)
  }

const KEY = /(?<![0-9a-zA-Z])(?:0x)?0[23][0-9a-fA-F]{64}(?![0-9a-zA-Z])/g
/** No secret is longer: half of one, at the end, would not be recognised. */
const LOOKED_AT = 8192

/** A line of the node as it may be shown: no secret, nothing that a terminal obeys, one line, cut to a length. */
export const shownLine = (text: string, nameOf: NameOf, length: number): string => {
  const line = strikeLog(text.slice(0, LOOKED_AT)).replaceAll(KEY, nameOf).replaceAll('\n', ' ')
  return line.length > length ? `${line.slice(0, Math.max(1, length - 1))}\u2026` : line
}
