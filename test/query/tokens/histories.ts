import fc from 'fast-check'
import { type OraclePage } from './oracle.ts'
import {
  batch,
  consecutive,
  handover,
  logOf,
  MOST,
  person,
  placed,
  single,
  TOPIC,
  transfer,
  type WireLog,
  word,
  ZERO,
} from './pages.ts'

export type Standard = 'erc20' | 'erc721' | 'erc1155'

/** Each differs from 0x…07 in one byte, at the ends or in the middle. */
const ALIKE = [0, 4, 8, 12, 16].map((byte) => `0x${'0'.repeat(2 * byte)}01${'0'.repeat(36 - 2 * byte)}07`)

const account = fc.constantFrom(ZERO, ...[1, 2, 7].map(person), ...ALIKE, `0x${'ab'.repeat(20)}`)
/** Now and then with more than 20 bytes. */
const party = fc.oneof(
  { weight: 5, arbitrary: account },
  { weight: 1, arbitrary: fc.constant(`0x${'f'.repeat(24)}${person(2).slice(2)}`) },
)
const amount = fc.oneof(
  { weight: 5, arbitrary: fc.bigInt(0n, 2n ** 90n) },
  { weight: 1, arbitrary: fc.constantFrom(0n, 1n, 2n ** 32n, 2n ** 128n - 1n, MOST) },
)
const id = fc.oneof(fc.bigInt(0n, 12n), fc.constantFrom(2n ** 53n + 1n, 2n ** 255n + 1n, 2n ** 160n + 1n, MOST))

const PLAIN: Readonly<Record<Standard, fc.Arbitrary<WireLog>>> = {
  erc20: fc.tuple(account, account, amount).map((given) => transfer(...given)),
  erc721: fc.tuple(account, account, id).map((given) => handover(...given)),
  erc1155: fc.oneof(
    fc.tuple(account, account, fc.tuple(id, amount)).map((given) => single(...given)),
    fc.tuple(account, account, fc.array(fc.tuple(id, amount), { maxLength: 4 })).map((given) => batch(...given)),
  ),
}

const range = fc
  .tuple(fc.bigInt(0n, 12n), fc.bigInt(0n, 5n), account, account)
  .map(([first, more, from, to]) => consecutive(from, to, [first, first + more]))

const bytes = (most: number) =>
  fc
    .array(fc.constantFrom(0, 0, 0, 1, 2, 32, 64, 96, 160, 255), { maxLength: most })
    .map((list) => list.map((byte) => byte.toString(16).padStart(2, '0')).join(''))

/** Words that a decoder may take for offsets, lengths, ids, addresses. */
const words = fc
  .array(fc.oneof(fc.constantFrom(0n, 1n, 2n, 3n, 32n, 64n, 96n, 160n, 2n ** 255n), id), { maxLength: 9 })
  .map((list) => list.map((one) => word(one)).join(''))

/** Any event with any number of topics and any data. */
const odd = fc
  .tuple(
    fc.constantFrom(...Object.values(TOPIC)),
    fc.array(fc.oneof(account, id, fc.constant(`0x${'f'.repeat(64)}`)), { maxLength: 3 }),
    fc.oneof(words, bytes(100)),
  )
  // Ranges are short because the oracle iterates over them.
  .map((given) => (given[0] === TOPIC.consecutive ? transfer(ZERO, ZERO, 0) : logOf(...given)))

/** An event with any number of its three arguments indexed, and up to a word more or less than the others as data. */
const misshapen = fc
  .tuple(
    fc.constantFrom(TOPIC.transfer, TOPIC.deposit, TOPIC.single),
    fc.tuple(party, party, amount),
    fc.nat(3),
    fc.constantFrom(0, 0, -32, -1, 1, 32),
  )
  .map(([topic, given, indexed, more]) => {
    const data = given
      .slice(indexed)
      .map((one) => word(one))
      .join('')
    return logOf(topic, given.slice(0, indexed), more < 0 ? data.slice(0, 2 * more) : data + '00'.repeat(more))
  })

/** Addresses of more than 20 bytes, also in logs without a transfer. */
const dirty = fc
  .tuple(fc.constantFrom(`0x${'f'.repeat(64)}`, person(1)), fc.array(fc.tuple(id, amount), { maxLength: 1 }))
  .map(([who, items]) => batch(who, person(2), items))

const foreign = fc
  .tuple(
    PLAIN.erc20,
    fc.constantFrom({ address: person(77) }, { topic0: TOPIC.single }, { topic0: null, topic1: null, topic2: null }),
  )
  .map(([log, changes]) => ({ ...log, ...changes }))

/** Other notations of the same log. */
const rewritten = (log: WireLog): readonly WireLog[] => {
  const { topic3: _, ...short } = log
  return [
    log.topic3 === null ? short : log,
    log.topic3 === null ? { ...log, topic3: '' } : log,
    { ...log, topic1: log.topic1?.toUpperCase().replace('0X', '0x') ?? null },
    { ...log, block_number: `0x${Number(log.block_number).toString(16)}` },
    { ...log, log_index: `${log.log_index}`, removed: false },
    { ...log, data: log.data === '0x' ? null : (log.data ?? null) },
  ]
}

const PAGE = 10

const plainOf = (standard: Standard): fc.Arbitrary<readonly WireLog[]> =>
  fc.array(PLAIN[standard], { maxLength: 12 }).map((logs) => placed(logs))

/** A plain page. */
export const plainPageOf = (standard: Standard): fc.Arbitrary<OraclePage> =>
  plainOf(standard).map((logs) => ({ from: 0, next: PAGE, logs }))

/** Consecutive pages of ten blocks each, half of them plain. */
export const historyOf = (standard: Standard): fc.Arbitrary<readonly OraclePage[]> => {
  const any = fc.oneof(
    { weight: 6, arbitrary: PLAIN[standard] },
    { weight: standard === 'erc721' ? 2 : 0, arbitrary: range },
    { weight: 2, arbitrary: odd },
    { weight: 2, arbitrary: misshapen },
    { weight: 1, arbitrary: foreign },
    { weight: standard === 'erc1155' ? 1 : 0, arbitrary: dirty },
  )
  const disturbed = fc.array(fc.tuple(any, fc.nat(7), fc.nat(9)), { maxLength: 12 }).chain((drawn) => {
    const logs = placed(drawn.map(([log]) => log)).flatMap((log, at) => {
      const how = drawn[at]?.[1] ?? 0
      const other = rewritten(log)[how] ?? log
      return drawn[at]?.[2] === 0 ? [other, { ...other, removed: true }] : [other]
    })
    return fc
      .boolean()
      .chain((isShuffled) => (isShuffled ? fc.shuffledSubarray(logs, { minLength: logs.length }) : fc.constant(logs)))
  })
  return fc.array(fc.oneof(plainOf(standard), disturbed), { minLength: 1, maxLength: 4 }).map((pages) =>
    pages.map((logs, at) => {
      const from = PAGE * at
      const shifted = logs.map((log) => moved(log, from))
      return { from, next: from + PAGE, logs: shifted }
    }),
  )
}

const few = fc.constantFrom(ZERO, ...[1, 2].map(person))
const small = fc.bigInt(7n, 9n)

const NARROW: Readonly<Record<Standard, fc.Arbitrary<WireLog>>> = {
  erc20: fc.oneof(
    { weight: 3, arbitrary: fc.tuple(few, few, small).map((given) => transfer(...given)) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.constantFrom(TOPIC.deposit, TOPIC.withdrawal), few, small)
        .map(([topic, who, much]) => logOf(topic, [who], word(much))),
    },
  ),
  erc721: fc.oneof(
    { weight: 9, arbitrary: fc.tuple(few, few, small).map((given) => transfer(...given)) },
    { weight: 1, arbitrary: fc.tuple(few, few, small).map((given) => handover(...given)) },
  ),
  erc1155: fc.tuple(few, few, fc.tuple(fc.constant(7n), small)).map((given) => single(...given)),
}

/** Few logs of few holders and amounts, three logs per block and two blocks per page. */
export const narrowHistoryOf = (standard: Standard): fc.Arbitrary<readonly OraclePage[]> =>
  fc.array(NARROW[standard], { minLength: 1, maxLength: 9 }).map((logs) =>
    [0, 6].map((first, at) => ({
      from: PAGE * at,
      next: PAGE * (at + 1),
      logs: placed(logs.slice(first, first + 6)).map((log) => moved(log, PAGE * at)),
    })),
  )

/** Assigns positions in the blocks of a page, three logs per block. */
const moved = (log: WireLog, from: number): WireLog => {
  const block = from + Math.floor(Number(log.log_index) / 3)
  const isHex = typeof log.block_number === 'string'
  return { ...log, block_number: isHex ? `0x${block.toString(16)}` : block }
}
