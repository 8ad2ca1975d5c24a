/** A token on the simulated chain: every so many blocks some of it is made, for the one holder or for the other. */
const TOKEN = '0x70ce000000000000000000000000000000000001'
const HOLDERS = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`] as const
const EVERY = 20n
/** Keccak-256 of Transfer(address,address,uint256). */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const TENTH = 10n ** 17n

interface Known {
  /** The newest block that the service has. */
  readonly height: bigint
  /** The block that the token was made in. */
  readonly since: bigint
}

/** What a query service answers to POST /query: all of it at once, so without `next_block`. Undefined for a bad query. */
export const answerQuery = (body: string, { height, since }: Known): string | undefined => {
  const asked = readBody(body)
  if (!asked) return undefined
  const first = asked.from > since ? asked.from : since
  const last = asked.to < height ? asked.to : height
  const logs: unknown[] = []
  for (let block = first + ((EVERY - (first % EVERY)) % EVERY); block <= last; block += EVERY) {
    if (asked.wantsToken) logs.push(logOf(block))
  }
  return JSON.stringify({ data: [{ logs }], archive_height: Number(height) })
}

const logOf = (block: bigint) => {
  const holder = HOLDERS[Number((block / EVERY) % 2n)] ?? HOLDERS[0]
  const amount = TENTH * (1n + ((block / EVERY) % 7n))
  return {
    block_number: Number(block),
    log_index: 0,
    address: TOKEN,
    topic0: TRANSFER,
    topic1: word(0n),
    topic2: word(BigInt(holder)),
    topic3: null,
    data: word(amount),
  }
}

const word = (value: bigint): string => `0x${value.toString(16).padStart(64, '0')}`

interface Body {
  readonly from_block?: unknown
  readonly to_block?: unknown
  readonly logs?: unknown
}

const readBody = (text: string) => {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof body !== 'object' || body === null) return undefined
  const { from_block: from, to_block: to, logs }: Body = body
  if (!isBlock(from) || !(to === undefined || to === null || isBlock(to)) || !Array.isArray(logs)) {
    return undefined
  }
  return {
    from: BigInt(from),
    to: isBlock(to) ? BigInt(to) : 2n ** 53n,
    wantsToken: JSON.stringify(logs).includes(TOKEN) && JSON.stringify(logs).includes(TRANSFER),
  }
}

const isBlock = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
