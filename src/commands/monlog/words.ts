import type { KeyNames } from '../../config/key-names.ts'
import { redactLog } from '../../core/redact-log.ts'

/** Whose key it is, or its ends: `02ab..cd12`. */
export type NameOf = (key: string) => string

export const createNameOf =
  (names: KeyNames): NameOf =>
  (key) => {
    const bare = key.replace(/^0x/i, '').toLowerCase()
    return names.get(bare) ?? (bare.length > 12 ? `${bare.slice(0, 4)}..${bare.slice(-4)}` : bare)
  }

const KEY = /(?<![0-9a-zA-Z])(?:0x)?0[23][0-9a-fA-F]{64}(?![0-9a-zA-Z])/g

/** A line of the node's log as it may be shown: secrets redacted, no control characters, on one line. */
export const shownLine = (text: string, nameOf: NameOf): string =>
  redactLog(text).replaceAll(KEY, nameOf).replaceAll('\n', ' ')
