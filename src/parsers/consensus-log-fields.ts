import { parseU64 } from '../core/units.ts'

export type Fields = Readonly<Record<string, unknown>>
export type NetworkErrorKind = 'decrypt' | 'session_timeout' | 'timestamp'

/**
 * An unsigned integer, however it was printed: a number, its digits, or `Some(digits)`. Null where it
 * is missing, `None`, or no such thing; JSON numbers past 2^53 have lost digits and are none either.
 */
export const readU64 = (value: unknown): bigint | null => {
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : null
  }
  if (typeof value !== 'string') return null
  const [, digits = ''] = /^(?:Some\()?(\d+)\)?$/.exec(value) ?? []
  return parseU64(digits) ?? null
}

/** The first `name: digits` in the text that Rust's Debug made of a structure. */
export const readNamed = (text: unknown, name: string): bigint | null => {
  if (typeof text !== 'string') return null
  const [, digits = ''] = new RegExp(String.raw`\b${name}: (\d+)`).exec(text) ?? []
  return parseU64(digits) ?? null
}

const CERTIFICATE = /^(Qc|Tc)\(.*?epoch: (\d+), round: (\d+)/s

/** What closed a round, from the text of its certificate. */
export const readCertificate = (
  text: unknown,
): { readonly by: 'qc' | 'tc'; readonly epoch: bigint; readonly round: bigint } | null => {
  if (typeof text !== 'string') return null
  const [, kind, epochDigits = '', roundDigits = ''] = CERTIFICATE.exec(text) ?? []
  const [epoch, round] = [parseU64(epochDigits), parseU64(roundDigits)]
  if (epoch === undefined || round === undefined) return null
  return { by: kind === 'Tc' ? 'tc' : 'qc', epoch, round }
}

/** A node's key: hex digits, however long the version prints them. */
export const readKey = (value: unknown): string | null => {
  if (typeof value !== 'string') return null
  const [, key] = /^(?:0x)?([0-9a-fA-F.]{4,130})$/.exec(value) ?? []
  return key?.toLowerCase() ?? null
}

const PEER_FIELDS = ['addr', 'remote_addr', 'peer', 'author', 'node_id'] as const
const MAX_PEER_LENGTH = 140

/** Who is behind an error: an address without its port, else a key. */
export const readPeer = (fields: Fields): string | null => {
  for (const name of PEER_FIELDS) {
    const value = fields[name]
    if (typeof value !== 'string' || value === '' || value.length > MAX_PEER_LENGTH) continue
    const { host = value } = /^(?<host>\[[^\]]+\]|[^:]+):\d+$/.exec(value)?.groups ?? {}
    return host
  }
  return null
}
