// Constants and the file layout shared by the history, the server and the programs.
import { openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'

export const FIRST_BLOCK = 1_000_000
export const LOGS_PER_BLOCK = 40
/** 10,000 logs, 3.5 MB. */
export const BLOCKS_PER_PAGE = 250
export const CONTRACT = `0x${'c0'.repeat(20)}`
/** keccak-256 of Transfer(address,address,uint256). */
export const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** The pages of a history in the format of the service. */
export const openHistory = (folder) => {
  const places = JSON.parse(readFileSync(join(folder, 'places.json'), 'utf8'))
  const json = openSync(join(folder, 'logs.json'), 'r')
  const arrow = openSync(join(folder, 'pages.arrow'), 'r')
  const height = FIRST_BLOCK + places.json.length - 2
  return {
    logs: places.count,
    height,
    /** The blocks from `from` up to, but not including, the end; at most one page. */
    page: (from, end) => {
      const next = Math.max(from, Math.min(from + BLOCKS_PER_PAGE, end, height + 1))
      const tail = Buffer.from(`]}],${ending({ from, next, height })}}`)
      const start = places.json[from - FIRST_BLOCK]
      const size = Math.max(0, places.json[next - FIRST_BLOCK] - start - 1)
      const body = Buffer.allocUnsafe(HEAD.length + size + tail.length)
      HEAD.copy(body)
      readSync(json, body, HEAD.length, size, start)
      tail.copy(body, HEAD.length + size)
      return { from, next, archiveHeight: height, body }
    },
    /** `from` must be the first block of a page. */
    arrowPage: (from) => {
      const number = (from - FIRST_BLOCK) / BLOCKS_PER_PAGE
      const [start, end] = [places.arrow[number], places.arrow[number + 1]]
      if (end === undefined) throw new Error(`no page begins with block ${from}`)
      const body = Buffer.allocUnsafe(end - start)
      readSync(arrow, body, 0, body.length, start)
      return body
    },
  }
}

const HEAD = Buffer.from('{"data":[{"logs":[')

const hash = (block) => `0x${block.toString(16).padStart(64, '0')}`

const ending = ({ from, next, height }) => {
  const guard = {
    block_number: next - 1,
    timestamp: 1_700_000_000,
    hash: hash(next - 1),
    first_block_number: from,
    first_parent_hash: hash(from - 1),
  }
  return `"archive_height":${height},"next_block":${next},"total_execution_time":1,"rollback_guard":${JSON.stringify(guard)}`
}
