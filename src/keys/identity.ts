import { SourceError } from '../core/errors.ts'
import type { KeyType } from '../core/key-paths.ts'

/** The public key that another source has for this node. */
export interface KnownKey {
  readonly source: string
  /** Whether the operator has configured it: then no option overrides a mismatch. */
  readonly isConfigured: boolean
  /** Null if it is unknown. */
  readonly publicKey: string | null
  readonly whyUnknown: string | null
}

export type KnownKeys = Readonly<Record<KeyType, readonly KnownKey[]>>

/** A public key compared with one source. */
export interface Comparison extends KnownKey {
  /** Null if one of the two is unknown. */
  readonly isSame: boolean | null
}

export const compareKeys = (known: readonly KnownKey[], publicKey: string | null): readonly Comparison[] =>
  known.map((one) => {
    if (one.publicKey === null) return { ...one, isSame: null }
    if (publicKey !== null) return { ...one, isSame: one.publicKey === publicKey }
    return { ...one, isSame: null, whyUnknown: 'the public key of the backup is not known' }
  })

/** Describes the mismatch: both keys, and what to check. */
export const describeMismatch = (
  { source, publicKey: other, isConfigured }: Comparison,
  publicKey: string | null,
): string =>
  `the public key is ${publicKey ?? 'unknown'}, but ${source} is ${other ?? 'unknown'}; check ${
    isConfigured
      ? 'that this is the right host and backup; if they are, correct node.publicKey'
      : "that this is the right host, and that node.directory is the running node's"
  }`

interface MismatchError {
  readonly doing: string
  readonly advice: string
}

/** Throws a SourceError if a source has another key. Unknown is not a mismatch. */
export const assertSameKey = (
  known: readonly KnownKey[],
  publicKey: string | null,
  { doing, advice }: MismatchError,
): void => {
  const other = compareKeys(known, publicKey).find(({ isSame }) => isSame === false)
  if (other === undefined) return
  throw new SourceError({ doing, happened: describeMismatch(other, publicKey), advice })
}
