import { type Io, writeAll } from '../../../src/terminal/io.ts'
import { createStyle, type Style } from '../../../src/terminal/style.ts'
import type { OutOfRange, RowText } from '../../tokens/types.ts'
import { formatUnits, toChecksumAddress } from '../../tokens/signatures.ts'
import { openPartialFile, partialPath } from '../../../src/sources/durable.ts'
import { csvLine } from '../query/rows.ts'
import type { BalancesOptions } from './options.ts'
import type { Verification } from './verify.ts'
import { excerpt } from '../../../src/core/errors.ts'
import { UNGUARDED, unrequestedNote } from '../query/report.ts'
import type { RebuiltBalances, TokenContract } from './rebuild.ts'

export interface BalancesReport {
  readonly token: TokenContract
  readonly rebuilt: RebuiltBalances
  readonly verified: Verification | null
  /** Why no balance was compared with the contract, if there is a reason; null if one was. */
  readonly unverified: string | null
  readonly decimals: number | null
  readonly checksum: boolean
}

interface Line {
  readonly address: string
  readonly id: string | null
  readonly balance: bigint
}

/** A range of ids that one owner received at once is one line: it may have 2^255 ids. */
function* linesOf(report: BalancesReport): Generator<Line> {
  const show = report.checksum ? toChecksumAddress : (address: string) => address
  for (const { address, id, balance } of report.rebuilt.ledger.rows) {
    yield { address: show(address), id: id === null ? null : id.toString(), balance }
  }
  yield* rangesOf(report)
}

function* rangesOf({ rebuilt, checksum }: BalancesReport): Generator<Line> {
  for (const { from, to, owner } of rebuilt.ledger.intervals) {
    yield { address: checksum ? toChecksumAddress(owner) : owner, id: `${from}..${to}`, balance: to - from + 1n }
  }
}

const amountOf = (balance: bigint, decimals: number | null): readonly string[] =>
  decimals === null ? [] : [formatUnits(balance, decimals)]

const CSV_ROW: RowText = { open: '', id: ',', balance: ',', close: '\n' }

function* csvOf(report: BalancesReport): Generator<string> {
  const hasId = report.token.standard !== 'erc20'
  const amount = report.decimals === null ? [] : ['amount']
  yield csvLine(['address', ...(hasId ? ['id'] : []), 'balance', ...amount])
  const isPlain = report.decimals === null && !report.checksum
  if (isPlain) yield* report.rebuilt.ledger.rows.text(CSV_ROW)
  for (const { address, id, balance } of isPlain ? rangesOf(report) : linesOf(report)) {
    const cells = [address, ...(hasId ? [id ?? ''] : []), balance.toString()]
    yield csvLine([...cells, ...amountOf(balance, report.decimals)])
  }
}

const JSON_ROW: RowText = { open: ',\n{"address":"', id: '","id":"', balance: '","balance":"', close: '"}' }

/** Each row begins with a comma. */
function* jsonRowsOf({ rebuilt, decimals, checksum }: BalancesReport): Generator<string> {
  const { rows } = rebuilt.ledger
  if (decimals === null && !checksum) {
    yield* rows.text(JSON_ROW)
    return
  }
  for (const { address, id, balance } of rows) {
    const [amount] = amountOf(balance, decimals)
    const row = {
      address: checksum ? toChecksumAddress(address) : address,
      ...(id !== null && { id: id.toString() }),
      balance: balance.toString(),
      ...(amount !== undefined && { amount }),
    }
    yield `,\n${JSON.stringify(row)}`
  }
}

/** One JSON document with one line per holder, in parts: a million holders do not fit in one string. */
function* jsonOf(report: BalancesReport): Generator<string> {
  const { token, rebuilt, checksum, verified } = report
  const { ledger, complete, through, target, unguarded } = rebuilt
  const { partial, nonConserving, outOfRange, hybrid, ambiguous, supply, stats } = ledger
  const show = checksum ? toChecksumAddress : (address: string) => address
  const head = {
    complete,
    through,
    target,
    partial,
    nonConserving,
    ...(outOfRange && { outOfRange: outOfRangeAsJson(outOfRange, show) }),
    hybrid,
    ambiguous,
    unguarded,
    unverified: complete ? report.unverified !== null : null,
    standard: token.standard,
    token: show(token.contract),
    supply: supply?.toString() ?? null,
  }
  yield `${JSON.stringify(head).slice(0, -1)},"balances":[`
  let isFirst = true
  for (const text of jsonRowsOf(report)) {
    yield isFirst ? text.slice(1) : text
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
    stats: resultStatsOf(stats),
  }
  yield `\n],${JSON.stringify(tail).slice(1)}\n`
}

/** Without the numbers of pages, which differ after a resume. */
const resultStatsOf = (stats: Ledger['stats']) =>
  Object.fromEntries(Object.entries(stats).filter(([name]) => name !== 'pages' && name !== 'fastPages'))

const outOfRangeAsJson = ({ block, address, id, balance }: OutOfRange, show: (address: string) => string) => ({
  block,
  address: show(address),
  ...(id !== null && { id: id.toString() }),
  balance: balance.toString(),
})

const verifiedAsJson = ({ different, ...rest }: Verification) => ({
  ...rest,
  different: different.map(({ row, ours, theirs }) => ({
    address: row.address,
    ...(row.id !== null && { id: row.id.toString() }),
    ours,
    theirs,
  })),
})

/** The facts about the balances, and the first rows. */
const tableOf = (report: BalancesReport, style: Style, maxRows: number): readonly string[] => {
  const { token, rebuilt, decimals } = report
  const { ledger, complete, through, target } = rebuilt
  const all = ledger.rows.length + ledger.intervals.length
  const lines: Line[] = []
  for (const line of linesOf(report)) if (lines.push(line) >= maxRows) break
  const facts = style.pairs(
    [
      ['token', `${token.contract}, ${token.standard}`],
      ['read', complete ? `through block ${through}` : `NOT COMPLETE: through block ${through} of ${target}`],
      ...(ledger.supply === null
        ? []
        : [['supply', amountOf(ledger.supply, decimals)[0] ?? ledger.supply.toString()] as const]),
      ['rows', String(all)],
    ],
    '',
  )
  const cells = lines.map(({ address, id, balance }) => [
    address,
    ...(id === null ? [] : [id]),
    amountOf(balance, decimals)[0] ?? balance.toString(),
  ])
  const widths = (cells[0] ?? []).map((_, at) => Math.max(...cells.map((row) => (row[at] ?? '').length)))
  return [
    ...facts,
    ...(cells.length > 0 ? [''] : []),
    ...cells.map((row) =>
      row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  '),
    ),
    ...(all > lines.length ? style.wrap(`${all - lines.length} more; --format csv has all.`) : []),
  ]
}

/** Writes the balances to the output, and their limitations to standard error. */
export const writeBalances = async (io: Io, options: BalancesOptions, report: BalancesReport): Promise<void> => {
  const { format, output } = options
  const style = createStyle(io)
  const notes = [...notesOf(report), ...endNoteOf(options, report)]
  const cannotMark = format === 'csv' && !report.rebuilt.complete
  if (cannotMark) {
    notes.push('Nothing was written: CSV cannot mark an incomplete result. Use --format json to get it.')
  } else {
    const out = output === undefined ? { append: (text: string) => writeAll(io, text) } : await openPartialFile(output)
    const page = () => tableOf(report, style, options.lines).map((line) => `${line}\n`)
    try {
      for (const text of inChunks({ csv: () => csvOf(report), json: () => jsonOf(report), table: page }[format]())) {
        await out.append(text)
      }
    } catch (error) {
      if ('discard' in out) await out.discard().catch(() => undefined)
      throw error
    }
    if ('finish' in out && output !== undefined) {
      if (report.rebuilt.complete) await out.finish()
      else {
        // The existing file may be a complete result of an earlier run.
        await out.close()
        notes.push(`The incomplete result is in ${partialPath(output)}; ${output} is unchanged.`)
      }
    }
  }
  io.stderr.write(
    notes
      .flatMap((note) => createStyle({ ...io, stdout: io.stderr }).wrap(note))
      .map((line) => `${line}\n`)
      .join(''),
  )
}

/** The last block, if the output does not contain it or it is not the requested one. */
const endNoteOf = (
  { format, output, toBlock = 0 }: BalancesOptions,
  { rebuilt: { complete, through } }: BalancesReport,
): readonly string[] => {
  const isCut = toBlock > through
  if (!complete || !(isCut || format === 'csv' || output !== undefined)) return []
  return [`Through block ${through}${isCut ? `, not ${toBlock}: the service has no later block yet` : ''}.`]
}

const CHUNK_LENGTH = 1 << 16

/** Joins short texts to chunks. */
function* inChunks(texts: Iterable<string>): Generator<string> {
  let chunk = ''
  for (const text of texts) {
    chunk += text
    if (chunk.length < CHUNK_LENGTH) continue
    yield chunk
    chunk = ''
  }
  yield chunk
}

/** Limitations of the balances, one sentence each. */
const notesOf = ({ token, rebuilt, verified, unverified }: BalancesReport): readonly string[] => {
  const { ledger, complete, through, target, error, unguarded } = rebuilt
  const { partial, nonConserving, hybrid, stats } = ledger
  const notes = [
    !complete &&
      `NOT COMPLETE: the balances end with block ${through} of ${target}.${error ? ` ${failureOf(error)}.` : ''}`,
    partial &&
      'Partial: the history before --from-block is not included; each balance is the change since then and may be negative.',
    nonConserving &&
      `Not conserving: ${inconsistencyOf(ledger)}. The contract changes balances ${causeOf(token)}; compare with --verify.`,
    hybrid && 'Hybrid: the events that were read are of two standards; these are the balances of the requested one.',
    unguarded === true && UNGUARDED,
    complete &&
      stats.logs === 0 &&
      `No transfer event of ${token.standard} was found. Check the contract address and the standard.`,
    stats.paired > 0 &&
      `Counted once: ${stats.paired} deposits and withdrawals, each of which is also logged as a Transfer. If the token logs all of them so, use no profile.`,
    ...countNotesOf(stats),
    ambiguityOf(token, ledger),
    complete && !verified && unverified !== null && unverifiedNoteOf(unverified),
    ...(verified ? verificationNotesOf(verified) : []),
  ]
  return notes.filter((note) => note !== false)
}

/** Hashes prove that no block is missing, and not that no log is. */
const unverifiedNoteOf = (reason: string): string =>
  `Unverified: a log that the service left out would not be noticed. ${
    reason === ''
      ? 'To compare balances with the contract, use --rpc URL.'
      : `The balances were not compared with the contract: ${reason}.`
  }`

/** What the service reported is the reason of most ends. */
const failureOf = ({ summary, evidence }: NonNullable<RebuiltBalances['error']>): string =>
  evidence === '' ? summary : `${summary} (${excerpt(evidence)})`

const MAX_DIFFERENCES = 20

type Ledger = RebuiltBalances['ledger']

const ambiguityOf = ({ standard }: TokenContract, { ambiguous, mayIndexId, stats }: Ledger): string | false => {
  if (!ambiguous || mayIndexId) return ambiguous && MAY_INDEX_ID
  return standard === 'erc20' && stats.unindexed === 0 ? MAY_BE_IDS : AMBIGUOUS
}

const MAY_INDEX_ID =
  'Ambiguous: each recipient is a small number and each amount has the size of an address. If the contract indexes the id in the place of an address, these balances are wrong, with every standard: check the order of the arguments of its event.'
const MAY_BE_IDS =
  'Ambiguous: each amount belonged to one owner at a time and moved as a whole, as an id does. If the contract is an ERC-721 that does not index the id, these balances are sums of ids: use --standard erc721.'
const AMBIGUOUS =
  'Ambiguous: the logs do not distinguish ERC-20 from ERC-721. Check which standard the contract has, and which arguments its event indexes.'

const inconsistencyOf = ({ stats, outOfRange }: Ledger): string => {
  if (outOfRange !== null) {
    const { address, id, balance, block } = outOfRange
    return `by its events ${address} had ${balance}${id === null ? '' : ` of id ${id}`} at the end of block ${block}, which no contract can store`
  }
  const parts = [
    stats.inconsistent > 0 && 'a sender did not own the token',
    stats.unknownBuyer > 0 && 'the buyer of a token is unknown',
    stats.overflow > 0 && 'the supply has more than 256 bits',
  ]
  return `by its events ${parts.filter((part) => part !== false).join(', and ')}`
}

const causeOf = ({ standard, profile }: TokenContract): string =>
  standard === 'erc20' && profile === null
    ? 'without an event, or in events that were not read (a wrapped native token logs Deposit and Withdrawal: use --profile weth)'
    : 'without an event, or in events that were not read'

/** The logs that were not applied, and the unusual ones. Only JSON has the other counts. */
const countNotesOf = (stats: Ledger['stats']): readonly (string | false)[] => {
  const skipped = counted(stats, ['duplicate', 'removed', 'wrongStandard', 'malformed'])
  const applied = counted(stats, ['unindexed', 'dirtyTopic', 'overflow'])
  return [
    unrequestedNote(stats.unrequested),
    skipped !== '' && `Not applied: ${skipped}. The transfers of these logs are not included.`,
    applied !== '' && `Unusual: ${applied}.`,
  ]
}

const counted = (stats: Ledger['stats'], names: readonly (keyof Ledger['stats'])[]): string =>
  names
    .filter((name) => stats[name] > 0)
    .map((name) => `${stats[name]} ${name}`)
    .join(', ')

const verificationNotesOf = (verification: Verification): readonly (string | false)[] => {
  const { asked, equal, different, unchecked, why, supply } = verification
  const parts = [
    asked === 0 ? 'no holder to check' : `${equal} of ${asked} match the contract`,
    different.length > 0 && `${different.length} differ`,
    unchecked > 0 && `${unchecked} could not be checked: ${why}`,
  ]
  return [
    `Verified: ${parts.filter((part) => part !== false).join('; ')}.`,
    supply !== null &&
      supply.ours !== supply.theirs &&
      `Different: supply: ${supply.ours} by events (minted less burned), ${supply.theirs} by the contract. The contract may have minted without events.`,
    different.length > 0 &&
      'The contract changes balances without events, or the service left out logs: run the command again, or with another service.',
    different.length > MAX_DIFFERENCES &&
      `The first ${MAX_DIFFERENCES} of ${different.length} differences; --format json has all.`,
    ...different
      .slice(0, MAX_DIFFERENCES)
      .map(
        ({ row, ours, theirs }) =>
          `Different: ${row.address}${row.id === null ? '' : `, id ${row.id}`}: ${ours} by events, ${theirs} by the contract.`,
      ),
  ]
}
