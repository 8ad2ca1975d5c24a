import { LOG_FIELDS } from '../../../query/log-fields.ts'
import type { Dialect } from '../../../query/service/api/parse-query.ts'
import type { Block } from '../../../query/store/store.ts'
import { contract, type Dice, hexOf, oneOf, word } from '../../support/store-cases.ts'

type Json = Record<string, unknown>

/** Requests for a service of a chain: right ones, and right ones that something has happened to. */
export interface Bodies {
  readonly dice: Dice
  readonly dialect: Dialect
  readonly chain: readonly Block[]
}

const BLOCK_NAMES = ['number', 'hash', 'parent_hash', 'timestamp'] as const
const TRANSACTION_NAMES = ['block_hash', 'block_number', 'hash', 'transaction_index'] as const

export const randomBody = (bodies: Bodies): Buffer => {
  const { dice, dialect } = bodies
  const body = rightBody(bodies)
  const harm = dice(10)
  if (harm < 5) return Buffer.from(written(body, dice))
  for (let times = dice(2); times >= 0; times -= 1) damage(body, dice, dialect)
  const text = written(body, dice)
  return harm < 8 ? Buffer.from(text) : scratched(Buffer.from(text), dice)
}

const rightBody = (bodies: Bodies): Json => {
  const { dice, dialect, chain } = bodies
  const first = chain[0]?.number ?? 0
  const last = chain.at(-1)?.number ?? 0
  const from = Math.max(0, first - 1 + dice(last - first + 4))
  const to = oneOf(dice, [undefined, null, from, from + dice(10), last, last + 1, 2 ** 53 - 1])
  const logs = Array.from({ length: 1 + dice(3) }, () => randomLogs(dice))
  const fields = LOG_FIELDS.filter(() => dice(3) === 0)
  const body: Json = {
    from_block: from,
    ...(to !== undefined && { to_block: to }),
    logs,
    field_selection: { log: fields.length === 0 ? ['data'] : fields },
  }
  if (dialect === 'hosted') addHosted(body, dice)
  return body
}

const addHosted = (body: Json, dice: Dice): void => {
  const parts: readonly (() => void)[] = [
    () => (body['join_mode'] = oneOf(dice, ['Default', 'JoinNothing'])),
    () => (body['include_all_blocks'] = oneOf(dice, [true, false])),
    () => (body['max_num_logs'] = dice(6)),
    () => (body['max_num_blocks'] = dice(20)),
    () => (body['transactions'] = []),
    () => (body['field_selection'] = { block: BLOCK_NAMES.filter(() => dice(2) === 0) }),
    () => {
      delete body['field_selection']
    },
    () => (body['field_selection'] = { log: ['data'], transaction: TRANSACTION_NAMES.filter(() => dice(2) === 0) }),
    () => (body['logs'] = [{ include: randomLogs(dice) }]),
    () => (body['logs'] = [{ ...randomLogs(dice), address_filter: null, exclude: null }]),
    () => {
      delete body['logs']
    },
  ]
  for (const part of parts) if (dice(4) === 0) part()
}

const randomLogs = (dice: Dice): Json => {
  const address = Array.from({ length: oneOf(dice, [0, 1, 2]) }, () => inAnyCase(contract(dice(7)), dice))
  const topics = Array.from({ length: dice(5) }, () =>
    Array.from({ length: oneOf(dice, [0, 0, 1, 3]) }, () =>
      inAnyCase(dice(9) === 0 ? hexOf(dice, 32) : word(dice(6)), dice),
    ),
  )
  return { ...(dice(3) > 0 && { address }), ...(dice(3) > 0 && { topics }) }
}

const inAnyCase = (hex: string, dice: Dice): string => (dice(4) === 0 ? `0x${hex.slice(2).toUpperCase()}` : hex)

/** Of any kind, most of them wrong wherever they are put. */
const JUNK: readonly [(dice: Dice) => unknown, ...((dice: Dice) => unknown)[]] = [
  () => null,
  () => -1,
  () => 1.5,
  () => 2 ** 53,
  (dice) => dice(30),
  (dice) => String(dice(30)),
  () => '',
  () => [],
  () => ({}),
  () => [[]],
  () => [null],
  () => true,
  (dice) => contract(dice(7)).slice(0, 41),
  () => [`${contract(1)}0`],
  (dice) => [word(dice(6))],
  () => [[word(1).replace('0', 'O')]],
  () => Array.from({ length: 20 }, () => contract(1)),
  () => ({ include: {}, exclude: {} }),
  () => ['hash', 'miner'],
  () => 'JoinAll',
]

const junk = (dice: Dice): unknown => oneOf(dice, JUNK)(dice)

const NAMES = [
  'from_block',
  'to_block',
  'logs',
  'field_selection',
  'join_mode',
  'max_num_logs',
  'max_num_blocks',
  'transactions',
  'traces',
  'blocks',
  'include_all_blocks',
  'address',
  'topics',
  'include',
  'exclude',
  'address_filter',
  'transaction',
  'log',
  'block',
  'trace',
  '__proto__',
  'constructor',
] as const

/** One place in the body becomes another. */
const damage = (body: Json, dice: Dice, dialect: Dialect): void => {
  const place = pick(body, dice)
  if (Array.isArray(place)) {
    place.splice(dice(place.length + 1), dice(2), junk(dice))
    return
  }
  const keys = Object.keys(place)
  const known = keys[dice(keys.length)]
  if (known !== undefined && dice(3) === 0) delete place[known]
  else if (known !== undefined && dice(2) === 0) place[known] = junk(dice)
  else if (dialect === 'hosted' || dice(2) === 0) {
    // Assigned, `__proto__` would be no key.
    const name = oneOf(dice, NAMES)
    Object.defineProperty(place, name, {
      value: junk(dice),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

const pick = (body: Json, dice: Dice): Json | unknown[] => {
  let place: Json | unknown[] = body
  while (dice(3) > 0) {
    const inner: readonly unknown[] = Object.values(place).filter(isObject)
    const next = inner[dice(inner.length)]
    if (!isObject(next)) break
    place = next
  }
  return place
}

/** JSON as others write it: with space, escapes, other forms of a number, a key twice. */
const written = (body: Json, dice: Dice): string => {
  const text = JSON.stringify(body, undefined, dice(8) === 0 ? 1 : 0)
  switch (dice(24)) {
    case 0:
      return text.replace('"logs"', String.raw`"l\u006fgs"`)
    case 1:
      return text.replace(/:(\d+)/, ':$1.0')
    case 2:
      return text.replace(/:(\d+)/, ':$1e0')
    case 3:
      return text.replace('{', '{"from_block":1,')
    case 4:
      return text.replace('"topics":', '"topics":[],"topics":')
    case 5:
      return text.replace(/:(\d+)/, ':-0')
    case 6:
      return `${text}\n`
    default:
      return text
  }
}

/** Bytes that were lost, doubled or changed on the way. */
const scratched = (bytes: Buffer, dice: Dice): Buffer => {
  const at = dice(bytes.length)
  switch (dice(4)) {
    case 0:
      return bytes.subarray(0, at)
    case 1:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + dice(3))])
    case 2:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(Math.max(0, at - dice(9)))])
    default: {
      const changed = Buffer.from(bytes)
      changed[at] = dice(256)
      return changed
    }
  }
}
