import { type Envelope, isObject, readEnvelope, type Refuse } from './envelope.ts'
import { readLogs } from './logs.ts'
import { skim, type Skimmed } from './skim.ts'
import { type Tell } from './tell.ts'
import { withoutBeyond } from './trim.ts'
import { type BlockHash, type Page, type RawLog } from './types.ts'

/** A page, and what the client alone needs of it. */
export interface CheckedPage extends Page {
  readonly count: number
  readonly claims: readonly BlockHash[]
  /** Whether the service said where the page ends. */
  readonly isTold: boolean
  /** Nothing in it shows that the service has its last block. */
  readonly isInferred: boolean
}

interface Asked {
  readonly from: number
  /** Inclusive. */
  readonly end: number
}

/** Reads one answer and proves what it covers. `next` is `from` where it covers nothing. Throws QueryError('protocol'). */
export const readPage = (body: Buffer, asked: Asked, tell: Tell): CheckedPage => {
  const refuse: Refuse = (happened, evidence) => tell('protocol', happened, evidence)
  const { from, end } = asked
  const skimmed = skim(body, end, refuse)
  const parsed = skimmed === undefined ? parsePage(body, end, refuse) : undefined
  const seen = parsed?.seen ?? skimmed
  if (seen === undefined) throw refuse('what came cannot be read', '')
  const next = coverage(seen, asked, refuse)
  checkRange(seen, { ...asked, next }, refuse)
  const { envelope, highest, beyond } = seen
  const count = seen.logs - beyond
  // What was sent along has to be taken out of the bytes, too.
  const bytes =
    skimmed?.trimmed ?? (parsed && beyond > 0 ? withoutBeyond(parsed.answer, end) : body)
  const claims = envelope.claims.filter(({ block }) => block >= from - 1 && block < next)
  let logs: readonly RawLog[] | undefined = parsed?.logs.filter(
    ({ blockNumber }) => blockNumber <= end,
  )
  const read = (): readonly RawLog[] => {
    const all = parsePage(bytes, end, refuse).logs
    // A key that is there twice: what was counted is not what was kept.
    if (all.length !== count) {
      throw refuse('its logs are not those that were counted', `${all.length} for ${count}`)
    }
    return all
  }
  return {
    from,
    next,
    archiveHeight: envelope.archiveHeight,
    last: lastOf(claims, from, next),
    body: bytes,
    count,
    claims,
    isTold: envelope.next !== null,
    isInferred: envelope.next === null && envelope.archiveHeight === null && highest < end,
    logs: () => (logs ??= read()),
  }
}

/** Only a hash that a later page of this service can be compared with: it tells the parents of its first blocks. */
const lastOf = (claims: readonly BlockHash[], from: number, next: number): BlockHash | null => {
  const isComparable = from === 0 || claims.some(({ block }) => block === from - 1)
  const last = claims.findLast(({ block }) => block === next - 1 && block >= from)
  return isComparable ? (last ?? null) : null
}

const parsePage = (body: Buffer, end: number, refuse: Refuse) => {
  const answer = parseAnswer(body, refuse)
  const envelope = readEnvelope(answer, refuse)
  const logs = readLogs(answer['data'], refuse)
  let lowest = Number.POSITIVE_INFINITY
  let highest = -1
  let beyond = 0
  for (const { blockNumber } of logs) {
    lowest = Math.min(lowest, blockNumber)
    highest = Math.max(highest, blockNumber)
    if (blockNumber > end) beyond += 1
  }
  const seen: Skimmed = { envelope, logs: logs.length, lowest, highest, beyond }
  return { answer, logs, seen }
}

const parseAnswer = (body: Buffer, refuse: Refuse): Readonly<Record<string, unknown>> => {
  const text = body.toString('utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw refuse('what came is no JSON', text)
  }
  if (!isObject(value)) throw refuse('what came is no object', text)
  return value
}

/**
 * The first block that is not covered: never past what was asked for, never past what the service has. It
 * has what it said, and whatever it sent a log of: one that is behind says less than another has shown.
 */
const coverage = (
  { envelope, highest }: Pick<Skimmed, 'envelope' | 'highest'>,
  { from, end }: Asked,
  refuse: Refuse,
): number => {
  const { next, archiveHeight }: Envelope = envelope
  if (next !== null && next < from) {
    throw refuse('its next_block lies before what was asked for', `${next} for from_block ${from}`)
  }
  const has = archiveHeight === null ? end : Math.max(archiveHeight, highest)
  return Math.max(from, Math.min(next ?? end + 1, end + 1, has + 1))
}

const checkRange = (
  { envelope, lowest, highest }: Skimmed,
  { from, end, next }: Asked & { readonly next: number },
  refuse: Refuse,
): void => {
  // An inclusive service covers one block more than an exclusive one.
  const bound = next <= end ? next : Math.min(envelope.next ?? end + 2, end + 2)
  if (lowest >= from && highest < bound) return
  throw refuse(
    'a log lies outside the blocks of its page',
    `block ${lowest < from ? lowest : highest} where blocks ${from} to ${bound - 1} were covered`,
  )
}
