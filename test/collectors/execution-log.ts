import type { JournalEntry } from '../../src/parsers/journal.ts'

/** 2026-06-01 10:00:00 UTC. */
export const T0 = 1_780_308_000_000
export const UNIT = 'chain-execution.service'

export const entry = (
  message: string,
  { at = T0, process = 'a', ...fields }: { readonly at?: number; readonly process?: string } = {},
): JournalEntry => ({
  cursor: `s=${at}`,
  at,
  unit: UNIT,
  message,
  fields: { _PID: '40', _SYSTEMD_INVOCATION_ID: process, ...fields },
})

const HEAD = '2026-06-01 10:00:00.000000001 [40] a.cpp:1 LOG_INFO\t'

interface Block {
  readonly id?: string | null
  readonly tx?: number
  readonly retried?: number
  readonly gas?: number
  readonly microseconds?: readonly [sr: number, txe: number, cmt: number, tot: number]
}

const idOf = (text: string): string => `0x${text.padStart(64, '0')}`

/** An execution of a block; the timestamp of the block is its height in seconds after T0. */
export const executed = (
  height: number,
  { id = 'a', tx = 0, retried = 0, gas = 0, microseconds = [0, 0, 0, 0] }: Block = {},
): string => {
  const [sr, txe, cmt, tot] = microseconds
  const name = id === null ? '' : `id=${idOf(id)},`
  return `${HEAD}__exec_block,bl=${`${height}`.padStart(8)},${name}ts=${T0 + height * 1000},tx=${tx},rt=${retried},rtp= 0.00%,sr=${sr}µs,txe=${txe}µs,cmt=${cmt}µs,tot=${tot}µs,tpse=0,tps=0,gas=${gas},gpse=0,gps=0`
}

export const upserted = (
  version: number,
  {
    timeline,
    earliest = Math.max(0, version - 100),
    us = 500,
    used = 0.5,
    free = 30,
  }: {
    readonly timeline?: 0 | 1
    readonly earliest?: number
    readonly us?: number
    readonly used?: number
    readonly free?: number
  } = {},
): string =>
  `${HEAD}Finish upserting version ${version}${timeline === undefined ? '' : ` (timeline ${timeline})`}. Min valid version ${earliest}. Time elapsed: ${us} us. Disk usage: ${used.toFixed(4)}. Chunks: 20 fast, 5 slow, ${free} free. Writer offsets: fast={1,2}`

export const ran = (height: number, megabytes: number): string =>
  `${HEAD}Run to block= ${height}, block_id ${idOf('a')}, number of transactions 1, tps = 1, gps = 1 M, rss = ${megabytes} MB`

export const finalized = (height: number): string =>
  `${HEAD}Processing finalization for block ${height} with block_id ${idOf('a')}`
