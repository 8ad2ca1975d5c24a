import { parseInteger } from './integers.ts'
import { type BlockHash } from './types.ts'

/** What an answer says beside its logs. */
export interface Envelope {
  /** Null where the service sent none. */
  readonly next: number | null
  /** -1 where it said that it has none yet. */
  readonly archiveHeight: number | null
  /** What it told of the hashes of blocks, for finding a reorg. */
  readonly claims: readonly BlockHash[]
}

/** Makes the error for what has the wrong shape. */
export type Refuse = (happened: string, evidence: string) => Error

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A value as it came. What is nested too deep for that is only named. */
export const excerptOf = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? 'nothing'
  } catch {
    return 'something nested too deep to be shown'
  }
}

export const readEnvelope = (
  answer: Readonly<Record<string, unknown>>,
  refuse: Refuse,
): Envelope => {
  const optional = (key: string): number | null => {
    const value = answer[key] ?? null
    if (value === null) return null
    const number = parseInteger(value)
    if (number === undefined) throw refuse(`its ${key} is no block number`, excerptOf(value))
    return number
  }
  return {
    next: optional('next_block'),
    archiveHeight: answer['archive_height'] === null ? -1 : optional('archive_height'),
    claims: claimsOf(answer['rollback_guard']),
  }
}

/** The hash of the last block that was read, and that of the block before the first. */
const claimsOf = (guard: unknown): readonly BlockHash[] => {
  if (!isObject(guard)) return []
  const first = parseInteger(guard['first_block_number'])
  const last = parseInteger(guard['block_number'])
  return [
    ...claim(first === undefined ? undefined : first - 1, guard['first_parent_hash']),
    ...claim(last, guard['hash']),
  ]
}

const claim = (block: number | undefined, hash: unknown): readonly BlockHash[] =>
  block === undefined || block < 0 || typeof hash !== 'string' || hash === ''
    ? []
    : [{ block, hash: hash.toLowerCase() }]
