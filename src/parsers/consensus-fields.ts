import { parseU64 } from '../core/units.ts'

/** The fields of a line of the consensus log, as its logger and Rust's Debug print them. */
export type Fields = Readonly<Record<string, unknown>>

/**
 * An unsigned integer, printed as a number, as digits or as `Some(digits)`. Null if it is missing, `None` or not an
 * integer; JSON numbers above 2^53 have lost digits and give null.
 */
export const readU64 = (value: unknown): bigint | null => {
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : null
  }
  if (typeof value !== 'string') return null
  const [, digits = ''] = /^(?:Some\()?(\d+)\)?$/.exec(value) ?? []
  return parseU64(digits) ?? null
}

/** The first `name: digits` in the Rust Debug output of a structure. */
export const readNamed = (text: unknown, name: string): bigint | null => {
  if (typeof text !== 'string') return null
  const [, digits = ''] = new RegExp(String.raw`\b${name}: (\d+)`).exec(text) ?? []
  return parseU64(digits) ?? null
}

const CERTIFICATE = /^(Qc|Tc)\(.*?epoch: (\d+), round: (\d+)/s

/** The certificate that closed a round, parsed from its Debug output. */
export const readCertificate = (
  text: unknown,
): { readonly by: 'qc' | 'tc'; readonly epoch: bigint; readonly round: bigint } | null => {
  if (typeof text !== 'string') return null
  const [, kind, epochDigits = '', roundDigits = ''] = CERTIFICATE.exec(text) ?? []
  const [epoch, round] = [parseU64(epochDigits), parseU64(roundDigits)]
  if (epoch === undefined || round === undefined) return null
  return { by: kind === 'Tc' ? 'tc' : 'qc', epoch, round }
}

/** A node's public key: hex digits, of any length that a version prints. */
export const readKey = (value: unknown): string | null => {
  if (typeof value !== 'string') return null
  const [, key] = /^(?:0x)?([0-9a-fA-F.]{4,130})$/.exec(value) ?? []
  return key?.toLowerCase() ?? null
}

const PEER_FIELDS = ['addr', 'remote_addr', 'peer', 'author', 'node_id'] as const
const MAX_PEER_LENGTH = 140

/** The peer of an error: its address without the port, or its key. */
export const readPeer = (fields: Fields): string | null => {
  for (const name of PEER_FIELDS) {
    const value = fields[name]
    if (typeof value !== 'string' || value === '' || value.length > MAX_PEER_LENGTH) continue
    const { host = value } = /^(?<host>\[[^\]]+\]|[^:]+):\d+$/.exec(value)?.groups ?? {}
    return host
  }
  return null
}
