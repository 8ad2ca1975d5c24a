import { StoreError } from '../errors.ts'
import type { BlockHeader } from '../store.ts'
import { shown } from './conditions.ts'
import type { Held } from './held.ts'
import { headOf } from './rows.ts'
import { LEDGER } from './schema.ts'
import type { Servers } from './servers.ts'

/** Numbers in one statement. */
const AT_ONCE = 50_000

interface Shown {
  readonly servers: Servers
  readonly held: Held
}

/** In order of number. */
export const headsOf = async (
  { servers, held }: Shown,
  numbers: readonly number[],
): Promise<readonly BlockHeader[]> => {
  const wanted = [...new Set(numbers)]
    .filter((number) => number >= held.first && number <= held.last)
    .toSorted((one, other) => one - other)
  const heads: BlockHeader[] = []
  for (let at = 0; at < wanted.length; at += AT_ONCE) {
    const some = wanted.slice(at, at + AT_ONCE)
    const span = { from: some[0] ?? 0, to: some.at(-1) ?? 0 }
    const rows = await servers.ask(
      `SELECT number, hex(hash), hex(parent), timestamp FROM ${LEDGER} WHERE ${shown('number', held.segments, span)} AND number IN (${some.join(', ')}) ORDER BY number`,
    )
    heads.push(...rows.map(headOf))
  }
  return heads
}

/** By number. They are not kept with the rows: 32 bytes that nothing can pack, for each log of a block. */
export const hashesOf = async (
  from: Shown,
  blocks: readonly number[],
): Promise<(block: number) => string> => {
  const known = new Map(
    (await headsOf(from, blocks)).map(({ number, hash }) => [number, hash] as const),
  )
  return (block) => {
    const hash = known.get(block)
    if (hash !== undefined) return hash
    throw new StoreError('unavailable', {
      doing: 'read logs from ClickHouse',
      happened: 'blocks that were there are gone from its ledger',
    })
  }
}
