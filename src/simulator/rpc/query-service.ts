import { tryJson } from '../../core/json.ts'
import { tokenEventsIn, TOKENS, TRANSFER } from '../chain/token-events.ts'

interface ServiceRange {
  /** The newest block that the service has. */
  readonly height: bigint
  /** The first block that the service has logs of. */
  readonly since: bigint
}

/** The ERC-20 logs that a query service returns for POST /query: one page, so without `next_block`. Undefined if the query is invalid. */
export const answerQuery = (body: string, { height, since }: ServiceRange): string | undefined => {
  const query = readBody(body)
  if (!query) return undefined
  const first = query.from > since ? query.from : since
  const last = query.to < height ? query.to : height
  const logs: unknown[] = []
  for (let block = first; query.wantsToken && block <= last; block += 1n) logs.push(...logsOf(block))
  return JSON.stringify({ data: [{ logs }], archive_height: Number(height) })
}

const logsOf = (block: bigint) =>
  tokenEventsIn(block).flatMap(({ address, topics, data }, index) =>
    address === TOKENS.erc20
      ? [
          {
            block_number: Number(block),
            log_index: index,
            address,
            topic0: topics[0],
            topic1: topics[1],
            topic2: topics[2],
            topic3: null,
            data,
          },
        ]
      : [],
  )

interface Body {
  readonly from_block?: unknown
  readonly to_block?: unknown
  readonly logs?: unknown
}

const readBody = (text: string) => {
  const body = tryJson(text)
  if (typeof body !== 'object' || body === null) return undefined
  const { from_block: from, to_block: to, logs }: Body = body
  if (!isBlock(from) || !(to === undefined || to === null || isBlock(to)) || !Array.isArray(logs)) {
    return undefined
  }
  return {
    from: BigInt(from),
    to: isBlock(to) ? BigInt(to) : 2n ** 53n,
    wantsToken: JSON.stringify(logs).includes(TOKENS.erc20) && JSON.stringify(logs).includes(TRANSFER),
  }
}

const isBlock = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
