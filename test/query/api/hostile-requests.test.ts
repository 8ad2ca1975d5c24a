import { describe, expect } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { createForms, isReply } from '../../../query/service/api/forms.ts'
import { createHeights } from '../../../query/service/api/heights.ts'
import { toHttpError } from '../../../query/service/api/http-error.ts'
import { QUERY_LIMITS } from '../../../query/service/api/limits.ts'
import { type Dice, diceOf, EVERYTHING, never, oneOf, word } from '../../support/store-cases.ts'
import {
  askPacked,
  bytes,
  doubleFarPointer,
  farPointer,
  filter,
  FULL,
  halves,
  included,
  layOut,
  list,
  listPointer,
  messageOf,
  NUMBER,
  type Part,
  request,
  struct,
  structPointer,
  structs,
  uint16s,
} from './binary-message.ts'
import { memoryStore } from '../../support/memory-store.ts'
import { errorOf, it, plainChain } from './fixtures.ts'

/** A request whose pointer at this place of its query is that of the test; its target begins at the next word. */
const withLogs = (pointer: bigint, ...target: readonly bigint[]) => {
  const [words = []] = layOut(request({ logs: null }))
  const offset = words.length - LOGS_AT - 1
  return messageOf([words.with(LOGS_AT, pointer + halves(offset << 2, 0)).concat(target)])
}
/** Behind the root, the request (three words), its range (two) and its end (one), and the flags of the query. */
const LOGS_AT = 8

const MALFORMED = "expected a packed Cap'n Proto message: "
const OTHER_ELEMENTS = `${MALFORMED}a list has other elements`
const LEAVES = `${MALFORMED}a pointer leaves its segment`
const LEAVES_MESSAGE = `${MALFORMED}a pointer leaves the message`
const NO_TABLE = `${MALFORMED}its table of segments is invalid`
const NO_LIST = `${MALFORMED}a struct is in place of a list`
const NO_POINTER = `${MALFORMED}a pointer is invalid`
const CUT_OFF = `${MALFORMED}it is cut off`
const TOO_LARGE = `${MALFORMED}a number is larger than 2^53-1`
const TOO_MANY = 'more values than one request may have'
const ROOT = structPointer(0, 1, 2)

/** Ten thousand pointers to one list of as many pointers. */
const shared = () => {
  const count = 10_000
  const inner = Array.from({ length: count }, () => 0n)
  const outer = Array.from({ length: count }, (_, at) => listPointer(count - at - 1, 6, count))
  // The topics of one selection, whose filter follows it.
  return withLogs(
    listPointer(0, 7, 2),
    structPointer(1, 0, 2),
    structPointer(1, 0, 3),
    0n,
    0n,
    0n,
    listPointer(0, 6, count),
    ...outer,
    ...inner,
  )
}

/** A request whose log fields are a list of 2^29-1 elements of this size. */
const fieldsOf = (size: number): readonly bigint[] => {
  const [words = []] = layOut(request({ logs: null, fields: struct([], [null, null, uint16s(2), null]) }))
  const at = words.indexOf(listPointer(1, 3, 1))
  return words.with(at, listPointer(1, size, 2 ** 29 - 1))
}

const nested = (depth: number): Part => (depth === 0 ? bytes(word(1)) : list(nested(depth - 1)))

const ROWS: readonly (readonly [name: string, body: Buffer, message: string, code?: string])[] = [
  ['1 nothing', Buffer.alloc(0), NO_TABLE],
  ['2 JSON', Buffer.from('{"from_block":10}'), NO_TABLE],
  ['3 a null pointer', messageOf([[0n]]), 'expected a request, got nothing'],
  ['4 a segment without a root', messageOf([[]]), LEAVES],
  ['5 no range', messageOf(layOut(request({ range: null }))), 'expected a range of blocks and a query'],
  ['6 a list as root', messageOf(layOut(list())), `${MALFORMED}a list is in place of a struct`],
  ['7 a struct in place of a list', messageOf(layOut(request({ logs: struct([]) }))), NO_LIST],
  [
    '8 zeros that are a gigabyte',
    Buffer.from('00ff'.repeat(2 ** 19), 'hex'),
    'the message is larger than 1048576 bytes',
    'too_large',
  ],
  ['9 a root beyond the end', messageOf([[structPointer(1000, 1, 2)]]), LEAVES],
  ['10 a root before the beginning', messageOf([[structPointer(-5, 1, 2), 0n, 0n, 0n]]), LEAVES],
  ['11 a root of 512 KiB', messageOf([[structPointer(0, 0xffff, 0), 0n]]), LEAVES],
  // Read as a request, the low half of the pointer is its member of the union.
  ['12 a root that contains itself', messageOf([[structPointer(-1, 1, 2), 0n, 0n]]), 'expected a query or its id'],
  [
    '13 a query that is its request',
    messageOf([[ROOT, 0n, structPointer(-2, 1, 2), structPointer(-3, 1, 2)]]),
    NO_LIST,
  ],
  ['14 a capability', messageOf([[halves(3, 0)]]), NO_POINTER],
  ['15 a far pointer to itself', messageOf([[farPointer(0, 0)]]), NO_POINTER],
  ['16 a far pointer to no segment', messageOf([[farPointer(0, 9)]]), LEAVES_MESSAGE],
  ['17 a double far pointer to itself', messageOf([[doubleFarPointer(0, 0), 0n]]), NO_POINTER],
  [
    '18 a double far pointer to no segment',
    messageOf([[doubleFarPointer(1, 0), farPointer(0, 9), structPointer(0, 0, 0)]]),
    LEAVES_MESSAGE,
  ],
  ['19 a list that is shared ten thousand times', shared(), TOO_MANY, 'too_many'],
  [
    '20 lists that are nested a hundred times',
    messageOf(layOut(request({ logs: structs(included(filter(null, nested(100)))) }))),
    OTHER_ELEMENTS,
  ],
  [
    '21 2^29-1 structs of some words',
    withLogs(listPointer(0, 7, 2 ** 29 - 1), structPointer(2 ** 28, 0, 1)),
    TOO_MANY,
    'too_many',
  ],
  [
    '22 2^29 structs of no size',
    withLogs(listPointer(0, 7, 0), structPointer(2 ** 29 - 1, 0, 0)),
    TOO_MANY,
    'too_many',
  ],
  [
    '23 more structs than words',
    withLogs(listPointer(0, 7, 1), structPointer(2, 0, 1), 0n),
    `${MALFORMED}a list is longer than it says`,
  ],
  ['24 2^29-1 fields', messageOf([fieldsOf(3)]), LEAVES],
  ['25 2^29-1 fields of no size', messageOf([fieldsOf(0)]), OTHER_ELEMENTS],
  ['26 600 segments', messageOf([...layOut(request()), ...Array.from({ length: 599 }, () => [])]), NO_TABLE],
  ['27 2^32 segments', Buffer.from('0fffffffff', 'hex'), NO_TABLE],
  ['28 a segment of 2^32-1 words', Buffer.from('f0ffffffff', 'hex'), CUT_OFF],
  ['29 a block of 2^53', messageOf(layOut(request({ range: struct([2n ** 53n], [null]) }))), TOO_LARGE],
  ['30 an end of 2^64-1', messageOf(layOut(request({ range: struct([10n], [NUMBER(2n ** 64n - 1n)]) }))), TOO_LARGE],
  [
    '31 a value of 33 bytes',
    messageOf(layOut(request({ logs: structs(included(filter(list(bytes(`0x${'11'.repeat(33)}`))))) }))),
    `${MALFORMED}a value is longer than 32 bytes`,
  ],
]

describe('a hostile request', () => {
  it('has one answer, which is clear', async ({ api }) => {
    const answers = []
    for (const [name, body] of ROWS) {
      const got = await askPacked(api, body)
      answers.push([name, got.status, errorOf(got).code, errorOf(got).message])
    }
    expect(answers).toEqual(
      ROWS.map(([name, , message, code = 'bad_value']) => [name, code === 'too_large' ? 413 : 400, code, message]),
    )
    expect(api.complaints).toEqual([])
  })

  it('is refused wherever it is cut off', async ({ api }) => {
    const whole = messageOf(layOut(request(FULL), { segments: 2, far: 'single' }))
    expect((await askPacked(api, whole)).status).toBe(200)
    const sentences = new Set<string>()
    for (let length = 0; length < whole.length; length += 1) {
      const got = await askPacked(api, whole.subarray(0, length))
      expect(got.status, `of ${length} bytes`).toBe(400)
      sentences.add(errorOf(got).message)
    }
    expect([...sentences]).toEqual([NO_TABLE, CUT_OFF])
    expect(api.complaints).toEqual([])
  })

  it('is a query or refused by one sentence, whatever was changed in it', async () => {
    const store = memoryStore()
    await store.append(plainChain(5, 30))
    const options = { store, scope: EVERYTHING, limits: QUERY_LIMITS, clock: systemClock, dialect: 'spec' as const }
    const { capnp } = createForms({ ...options, heights: createHeights(() => 30, systemClock) })
    const dice = diceOf(48)
    const valid = [1, 2, 3].flatMap((segments) => [
      layOut(request(), { segments, far: 'single' }),
      layOut(request(FULL), { segments, far: 'double' }),
    ])
    const unexpected: string[] = []
    const outcomes = new Set<string>()
    for (let turn = 0; turn < 3000; turn += 1) {
      const segments = valid[dice(valid.length)] ?? []
      const body = dice(2) === 0 ? changedBytes(dice, messageOf(segments)) : messageOf(changedWords(dice, segments))
      let outcome = 'answered'
      try {
        const query = capnp.parse(body)
        if (!isReply(query)) await capnp.answer(query, never())
      } catch (error) {
        const { status, message } = toHttpError(error, () => unexpected.push(body.toString('hex')))
        outcome = `${status}`
        expect(message, body.toString('hex')).toMatch(/^[^\n]{10,300}$/)
      }
      outcomes.add(outcome)
    }
    expect(unexpected).toEqual([])
    expect([...outcomes].toSorted()).toEqual(['400', '410', 'answered'])
  })
})

/** A byte is another one, missing, or there twice. */
const changedBytes = (dice: Dice, body: Buffer): Buffer => {
  const at = dice(body.length)
  const [before, after] = [body.subarray(0, at), body.subarray(at + 1)]
  return oneOf(dice, [
    Buffer.concat([before, Buffer.from([dice(256)]), after]),
    Buffer.concat([before, after]),
    Buffer.concat([before, body.subarray(at, at + 1), body.subarray(at)]),
  ])
}

/** Some words have another bit, or are a pointer to anywhere. */
const changedWords = (dice: Dice, segments: readonly (readonly bigint[])[]): readonly (readonly bigint[])[] =>
  segments.map((words) => {
    const changed = [...words]
    for (let each = dice(3); each > 0 && changed.length > 0; each -= 1) {
      const at = dice(changed.length)
      changed[at] = oneOf(dice, [
        (changed[at] ?? 0n) ^ (1n << BigInt(dice(64))),
        structPointer(dice(40) - 20, dice(4), dice(9)),
        listPointer(dice(40) - 20, dice(8), oneOf(dice, [dice(40), 2 ** dice(29)])),
        farPointer(dice(20), dice(4)),
        doubleFarPointer(dice(20), dice(4)),
        words[dice(words.length)] ?? 0n,
      ])
    }
    return changed
  })
