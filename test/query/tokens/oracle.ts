import { CONTRACT, type PageBounds, TOPIC, type WireLog, ZERO } from './pages.ts'

/**
 * A second, simple implementation of the balances, from the JSON objects of the service: bytes one by one, Maps, ranges
 * id by id. It shares no code with query/tokens.
 */
export interface OracleOptions {
  readonly standard: 'erc20' | 'erc721' | 'erc1155'
  readonly fullHistory: boolean
  readonly profile?: 'weth' | null
}

export interface OraclePage extends PageBounds {
  readonly logs: readonly WireLog[]
}

export interface OracleResult {
  /** `address id`, or `id` for ERC-721, and the amount, or the owner. */
  readonly held: ReadonlyMap<string, bigint | string>
  readonly odd: Readonly<Record<string, number>>
  readonly applied: number
  readonly supply: bigint
  /** The first block at whose end a balance was below 0 or above 2^256 - 1, and these balances. */
  readonly outOfRange: { readonly block: number; readonly held: ReadonlyMap<string, bigint> } | null
  /** ERC-20 with its full history: whether two or more amounts were each minted once and moved by their owner. */
  readonly mayBeIds: boolean
  /** Whether each recipient is below 2^64 and each amount is 0 or from there to 2^160, two of both not 0. */
  readonly mayIndexId: boolean
}

interface State {
  readonly options: OracleOptions
  readonly sums: Map<string, bigint>
  readonly owners: Map<bigint, string>
  readonly odd: Record<string, number>
  /** Sender, recipient and amount of each transfer. */
  readonly moves: (readonly [from: string, to: string, amount: bigint])[]
  applied: number
  supply: bigint
}

export const askOracle = (options: OracleOptions, pages: readonly OraclePage[]): OracleResult => {
  const state = emptyState(options)
  const all = pages.flatMap((page) => settle(page.logs, state))
  let outOfRange: OracleResult['outOfRange'] = null
  for (const [at, log] of withoutPairs(all, state).entries()) {
    apply(log, state)
    if (outOfRange === null && all[at + 1]?.block !== log.block) outOfRange = outOfRangeOf(log.block, state)
  }
  if (options.standard === 'erc721' && state.applied === 0) readUnindexed(all, state)
  const isPlain = options.standard === 'erc20' && (options.profile ?? null) === null && options.fullHistory
  const mayBeIds = isPlain && (state.odd['wrongStandard'] ?? 0) === 0 && (ownersOf(state.moves, true)?.size ?? 0) > 1
  const { moves } = state
  const mayIndexId =
    options.standard !== 'erc1155' &&
    (options.profile ?? null) === null &&
    moves.every(
      ([, to, amount]) => BigInt(to) < 2n ** 64n && (amount === 0n || BigInt.asUintN(160, amount) === amount),
    ) &&
    moves.every(([, , amount]) => amount === 0n || amount >= 2n ** 64n) &&
    moves.filter(([, to, amount]) => BigInt(to) > 0n && amount > 0n).length > 1
  const held = new Map<string, bigint | string>()
  for (const [key, sum] of state.sums) if (sum !== 0n) held.set(key, sum)
  for (const [id, owner] of state.owners) if (owner !== ZERO) held.set(String(id), owner)
  return { held, odd: state.odd, applied: state.applied, supply: state.supply, outOfRange, mayBeIds, mayIndexId }
}

const outOfRangeOf = (block: number, { sums }: State): OracleResult['outOfRange'] => {
  const held = new Map([...sums].filter(([, sum]) => sum < 0n || sum >= 2n ** 256n))
  return held.size > 0 ? { block, held } : null
}

/** The owner of each id; null if an id was minted twice, or moved by another than its owner. */
const ownersOf = (moves: State['moves'], fullHistory: boolean): ReadonlyMap<bigint, string> | null => {
  const owners = new Map<bigint, string>()
  for (const [from, to, id] of moves) {
    if ((owners.get(id) ?? (fullHistory ? ZERO : from)) !== from) return null
    owners.set(id, to)
  }
  return owners
}

/** Without an indexed id in any log, the amounts of ERC-20 are read as ids, if they do not contradict. */
const readUnindexed = (logs: readonly Settled[], state: State): void => {
  const moves = logs
    .filter(({ topics, data }) => topics.length === 2 && data.length === 32 && !topics.some(isDirty))
    .flatMap(movesOf)
  const owners = ownersOf(moves, state.options.fullHistory)
  if (owners === null || moves.length === 0) return
  for (const [id, owner] of owners) state.owners.set(id, owner)
  state.supply = BigInt(moves.filter(([from]) => from === ZERO).length - moves.filter(([, to]) => to === ZERO).length)
  state.applied = moves.length
  note(state, 'unindexed', moves.length)
  note(state, 'wrongStandard', -moves.length)
}

/** The logs; of a deposit or withdrawal that repeats a Transfer of its block the place stays, without an event. */
const withoutPairs = (logs: readonly Settled[], state: State): readonly Settled[] => {
  const used = new Set<Settled>()
  const valueOf = ({ data }: Settled): bigint => bigOf(wordOf(data, 0))
  let isPaired = true
  return logs.map((log) => {
    const [holder] = log.topics
    const isDeposit = log.topic0 === TOPIC.deposit
    if (log.topic0 === TOPIC.transfer || log.topics.length !== 1 || log.data.length < 32 || !holder) return log
    const parties = isDeposit ? [ZERO, addressOf(holder)] : [addressOf(holder), ZERO]
    const other = logs.find(
      (one) =>
        !used.has(one) &&
        one.block === log.block &&
        one.topic0 === TOPIC.transfer &&
        movesOf(one).join(' ') === `${parties.join()},${valueOf(log)}`,
    )
    if (isDeposit && valueOf(log) > 0n) isPaired = other !== undefined
    if (other === undefined || !isPaired) return log
    used.add(other)
    begin(state, [holder, holder])
    note(state, 'paired')
    if (log.data.length > 32) note(state, 'oversizeData')
    return { ...log, topic0: 'paired' }
  })
}

/** Of a Transfer, read as one of ERC-20. */
const movesOf = (log: Settled): State['moves'] => {
  const state = emptyState({ standard: 'erc20', fullHistory: true })
  apply(log, state)
  return state.moves
}

const emptyState = (options: OracleOptions): State => ({
  options,
  sums: new Map(),
  owners: new Map(),
  odd: {},
  moves: [],
  applied: 0,
  supply: 0n,
})

const note = (state: State, what: string, times = 1): void => {
  const count = (state.odd[what] ?? 0) + times
  if (count === 0) delete state.odd[what]
  else state.odd[what] = count
}

interface Settled {
  readonly block: number
  readonly topic0: string
  readonly topics: readonly (readonly number[])[]
  readonly data: readonly number[]
}

/** One log per position, in order, without removed ones. */
const settle = (logs: readonly WireLog[], state: State): readonly Settled[] => {
  const places = new Map<string, WireLog>()
  for (const log of logs) {
    const isOurs = (log.address ?? CONTRACT).toLowerCase() === CONTRACT
    if (!isOurs || !asked(state.options).includes((log.topic0 ?? '').toLowerCase())) {
      note(state, 'unrequested')
      continue
    }
    const place = `${Number(log.block_number)} ${Number(log.log_index)}`
    if (log.removed === true) {
      note(state, 'removed')
      places.delete(place)
    } else places.set(place, log)
  }
  const at = (place: string): number => {
    const [block, index] = place.split(' ').map(Number)
    return (block ?? 0) * 1_000_000 + (index ?? 0)
  }
  return [...places.entries()]
    .toSorted(([a], [b]) => at(a) - at(b))
    .map(([, log]) => ({
      block: Number(log.block_number),
      topic0: (log.topic0 ?? '').toLowerCase(),
      topics: [log.topic1, log.topic2, log.topic3].flatMap((topic) =>
        topic === null || topic === undefined || topic === '' ? [] : [bytesOf(topic)],
      ),
      data: bytesOf(log.data ?? '0x'),
    }))
}

const asked = ({ standard, profile }: OracleOptions): readonly string[] => {
  if (standard === 'erc1155') return [TOPIC.single, TOPIC.batch]
  if (standard === 'erc721') return [TOPIC.transfer, TOPIC.consecutive]
  return profile === 'weth' ? [TOPIC.transfer, TOPIC.deposit, TOPIC.withdrawal] : [TOPIC.transfer]
}

const bytesOf = (hex: string): readonly number[] => {
  const bytes: number[] = []
  for (let at = 2; at < hex.length; at += 2) bytes.push(Number(`0x${hex[at]}${hex[at + 1]}`))
  return bytes
}

const bigOf = (bytes: readonly number[]): bigint => bytes.reduce((value, byte) => value * 256n + BigInt(byte), 0n)

const addressOf = (bytes: readonly number[]): string =>
  `0x${bytes
    .slice(12)
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')}`

const isDirty = (bytes: readonly number[]): boolean => bytes.slice(0, 12).some((byte) => byte > 0)

const wordOf = (data: readonly number[], at: number): readonly number[] => data.slice(at, at + 32)

const ZERO_ADDRESS: readonly number[] = Array.from({ length: 32 }, () => 0)

const apply = (log: Settled, state: State): void => {
  if (log.topic0 === 'paired') return
  const applyOne = { erc20: applyErc20, erc721: applyErc721, erc1155: applyErc1155 }
  const odd = applyOne[state.options.standard](log, state)
  if (odd !== null) note(state, odd)
}

type Parties = readonly [from: readonly number[], to: readonly number[]]

const begin = (state: State, [from, to]: Parties): readonly [string, string] => {
  state.applied += 1
  if (isDirty(from) || isDirty(to)) note(state, 'dirtyTopic')
  return [addressOf(from), addressOf(to)]
}

const move = (state: State, who: readonly [string, string], [id, amount]: readonly [string, bigint]) => {
  const [from, to] = who.map((address) => `${address} ${id}`)
  if (from === undefined || to === undefined) return
  state.moves.push([...who, amount])
  if (who[0] === ZERO) state.supply += amount
  else state.sums.set(from, (state.sums.get(from) ?? 0n) - amount)
  if (who[1] === ZERO) state.supply -= amount
  else state.sums.set(to, (state.sums.get(to) ?? 0n) + amount)
}

const applyErc20 = ({ topic0, topics, data }: Settled, state: State): string | null => {
  const [first = ZERO_ADDRESS, second = ZERO_ADDRESS] = topics
  const shape = `${topics.length}/${data.length}`
  if (topic0 !== TOPIC.transfer) {
    if (topics.length !== 1 || data.length < 32) return 'malformed'
    const parties: Parties = topic0 === TOPIC.deposit ? [ZERO_ADDRESS, first] : [first, ZERO_ADDRESS]
    move(state, begin(state, parties), ['', bigOf(wordOf(data, 0))])
    return data.length > 32 ? 'oversizeData' : null
  }
  if (topics.length === 3) return 'wrongStandard'
  if (topics.length === 2 && data.length >= 32) {
    move(state, begin(state, [first, second]), ['', bigOf(wordOf(data, 0))])
    return data.length > 32 ? 'oversizeData' : null
  }
  if (shape === '1/64') {
    move(state, begin(state, [first, wordOf(data, 0)]), ['', bigOf(wordOf(data, 32))])
  } else if (shape === '0/96') {
    move(state, begin(state, [wordOf(data, 0), wordOf(data, 32)]), ['', bigOf(wordOf(data, 64))])
  } else return 'malformed'
  return 'unindexed'
}

const applyErc1155 = ({ topic0, topics, data }: Settled, state: State): string | null => {
  const [, from, to] = topics
  if (from === undefined || to === undefined || data.length < 64) return 'malformed'
  if (topic0 === TOPIC.single) {
    const [id, amount] = [bigOf(wordOf(data, 0)), bigOf(wordOf(data, 32))]
    move(state, begin(state, [from, to]), [String(id), amount])
    return data.length > 64 ? 'oversizeData' : null
  }
  const ids = listOf(data, bigOf(wordOf(data, 0)))
  const amounts = listOf(data, bigOf(wordOf(data, 32)))
  if (ids === null || amounts === null || ids.length !== amounts.length) {
    return 'malformed'
  }
  const who = begin(state, [from, to])
  for (const [at, id] of ids.entries()) move(state, who, [String(id), amounts[at] ?? 0n])
  return null
}

const listOf = (data: readonly number[], offset: bigint): readonly bigint[] | null => {
  if (offset + 32n > BigInt(data.length)) return null
  const at = Number(offset)
  const length = bigOf(wordOf(data, at))
  if (offset + 32n + 32n * length > BigInt(data.length)) return null
  return Array.from({ length: Number(length) }, (_, item) => bigOf(wordOf(data, at + 32 + 32 * item)))
}

const applyErc721 = ({ topic0, topics, data }: Settled, state: State): string | null => {
  const [first = ZERO_ADDRESS, second = ZERO_ADDRESS, third = ZERO_ADDRESS] = topics
  if (topic0 === TOPIC.consecutive) {
    if (topics.length !== 3 || data.length < 32) return 'malformed'
    if (bigOf(wordOf(data, 0)) < bigOf(first)) return 'malformed'
    const ids: bigint[] = []
    for (let id = bigOf(first); id <= bigOf(wordOf(data, 0)); id += 1n) ids.push(id)
    give(state, begin(state, [second, third]), ids)
    return data.length > 32 ? 'oversizeData' : null
  }
  if (topics.length === 2) return 'wrongStandard'
  if (topics.length === 3) {
    give(state, begin(state, [first, second]), [bigOf(third)])
    return data.length > 0 ? 'oversizeData' : null
  }
  if (topics.length > 0 || data.length !== 96) return 'malformed'
  give(state, begin(state, [wordOf(data, 0), wordOf(data, 32)]), [bigOf(wordOf(data, 64))])
  return 'unindexed'
}

const give = (state: State, [from, to]: readonly [string, string], ids: readonly bigint[]): void => {
  const unknown = state.options.fullHistory ? ZERO : from
  if (ids.some((id) => (state.owners.get(id) ?? unknown) !== from)) note(state, 'inconsistent')
  for (const id of ids) {
    state.owners.set(id, to)
    if (from === ZERO) state.supply += 1n
    if (to === ZERO) state.supply -= 1n
  }
}
