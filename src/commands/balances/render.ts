import type { Rebuilt, Token } from './balances.ts'
import type { Verified } from './verify.ts'
import { formatUnits, toChecksumAddress } from '../../tokens/format.ts'
import { csvLine } from '../query/csv.ts'
import { pairs, wrap } from '../../cli/terminal/layout.ts'
import type { Style } from '../../cli/terminal/style.ts'

export interface Look {
  readonly token: Token
  readonly rebuilt: Rebuilt
  readonly verified: Verified | null
  readonly decimals: number | null
  readonly checksum: boolean
}

interface Line {
  readonly address: string
  readonly id: string | null
  readonly balance: bigint
}

/** Tokens of a range that went to one owner at once stand in one line: there may be 2^255 of them. */
function* linesOf({ rebuilt, checksum }: Look): Generator<Line> {
  const show = checksum ? toChecksumAddress : (address: string) => address
  for (const { address, id, balance } of rebuilt.ledger.rows) {
    yield { address: show(address), id: id === null ? null : id.toString(), balance }
  }
  for (const { from, to, owner } of rebuilt.ledger.intervals) {
    yield { address: show(owner), id: `${from}..${to}`, balance: to - from + 1n }
  }
}

const amountOf = (balance: bigint, decimals: number | null): readonly string[] =>
  decimals === null ? [] : [formatUnits(balance, decimals)]

export function* csvOf(look: Look): Generator<string> {
  const hasId = look.token.standard !== 'erc20'
  const amount = look.decimals === null ? [] : ['amount']
  yield csvLine(['address', ...(hasId ? ['id'] : []), 'balance', ...amount])
  for (const { address, id, balance } of linesOf(look)) {
    const cells = [address, ...(hasId ? [id ?? ''] : []), balance.toString()]
    yield csvLine([...cells, ...amountOf(balance, look.decimals)])
  }
}

/** One document, a line a holder: a million of them are no one string. */
export function* jsonOf(look: Look): Generator<string> {
  const { token, rebuilt, decimals, checksum, verified } = look
  const { ledger, complete, through, target, unguarded } = rebuilt
  const { partial, nonConserving, hybrid, supply, stats } = ledger
  const show = checksum ? toChecksumAddress : (address: string) => address
  const head = {
    complete,
    through,
    target,
    partial,
    nonConserving,
    hybrid,
    unguarded,
    standard: token.standard,
    token: show(token.contract),
    supply: supply?.toString() ?? null,
  }
  yield `${JSON.stringify(head).slice(0, -1)},"balances":[`
  let isFirst = true
  for (const { address, id, balance } of ledger.rows) {
    const [amount] = amountOf(balance, decimals)
    const row = {
      address: show(address),
      ...(id !== null && { id: id.toString() }),
      balance: balance.toString(),
      ...(amount !== undefined && { amount }),
    }
    yield `${isFirst ? '' : ','}\n${JSON.stringify(row)}`
    isFirst = false
  }
  const intervals = ledger.intervals.map(({ from, to, owner }) => ({
    from: from.toString(),
    to: to.toString(),
    owner: show(owner),
  }))
  const tail = {
    ...(intervals.length > 0 && { intervals }),
    ...(verified && { verified: verifiedAsJson(verified) }),
    stats: asRead(stats),
  }
  yield `\n],${JSON.stringify(tail).slice(1)}\n`
}

/** How many pages it took, and by which path, is not of the result: a run that was resumed has others. */
const asRead = (stats: Look['rebuilt']['ledger']['stats']) =>
  Object.fromEntries(
    Object.entries(stats).filter(([name]) => name !== 'pages' && name !== 'fastPages'),
  )

const verifiedAsJson = ({ different, ...rest }: Verified) => ({
  ...rest,
  different: different.map(({ row, ours, theirs }) => ({
    address: row.address,
    ...(row.id !== null && { id: row.id.toString() }),
    ours,
    theirs,
  })),
})

/** For a reader: what it is, and the first rows. */
export const tableOf = (look: Look, style: Style, most: number): readonly string[] => {
  const { token, rebuilt, decimals } = look
  const { ledger, complete, through, target } = rebuilt
  const all = ledger.rows.length + ledger.intervals.length
  const lines: Line[] = []
  for (const line of linesOf(look)) if (lines.push(line) >= most) break
  const facts = pairs(
    [
      ['token', `${token.contract}, ${token.standard}`],
      [
        'read',
        complete
          ? `through block ${through}`
          : `NOT COMPLETE: through block ${through} of ${target}`,
      ],
      ...(ledger.supply === null
        ? []
        : [
            ['supply', (amountOf(ledger.supply, decimals)[0] ?? ledger.supply).toString()] as const,
          ]),
      ['rows', String(all)],
    ],
    style,
    '',
  )
  const cells = lines.map(({ address, id, balance }) => [
    address,
    ...(id === null ? [] : [id]),
    amountOf(balance, decimals)[0] ?? balance.toString(),
  ])
  const widths = (cells[0] ?? []).map((_, at) =>
    Math.max(...cells.map((row) => (row[at] ?? '').length)),
  )
  return [
    ...facts,
    ...(cells.length > 0 ? [''] : []),
    ...cells.map((row) =>
      row
        .map((cell, at) =>
          at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0),
        )
        .join('  '),
    ),
    ...(all > lines.length
      ? wrap(`${all - lines.length} more; --format csv has all of them.`, style)
      : []),
  ]
}
