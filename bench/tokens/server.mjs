// Serves a history like the hosted query service: JSON, and the binary pages of the official client. Prints its URL.
//   node server.mjs FOLDER
import { openSync, readFileSync, readSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { BLOCKS_PER_PAGE, FIRST_BLOCK } from './layout.mjs'

const folder = process.argv[2]
const places = JSON.parse(readFileSync(join(folder, 'places.json'), 'utf8'))
const [json, arrow] = ['logs.json', 'pages.arrow'].map((file) => openSync(join(folder, file), 'r'))
const height = FIRST_BLOCK + places.json.length - 2

const HEAD = Buffer.from('{"data":[{"logs":[')
const hash = (block) => `0x${block.toString(16).padStart(64, '0')}`

/** The blocks from `from` up to, but not including, `end`; at most one page. */
const jsonPage = (from, end) => {
  const next = Math.max(from, Math.min(from + BLOCKS_PER_PAGE, end, height + 1))
  const guard = {
    block_number: next - 1,
    timestamp: 1_700_000_000,
    hash: hash(next - 1),
    first_block_number: from,
    first_parent_hash: hash(from - 1),
  }
  const tail = Buffer.from(
    `]}],"archive_height":${height},"next_block":${next},"total_execution_time":1,"rollback_guard":${JSON.stringify(guard)}}`,
  )
  const start = places.json[from - FIRST_BLOCK]
  const size = Math.max(0, places.json[next - FIRST_BLOCK] - start - 1)
  const body = Buffer.allocUnsafe(HEAD.length + size + tail.length)
  HEAD.copy(body)
  readSync(json, body, HEAD.length, size, start)
  tail.copy(body, HEAD.length + size)
  return body
}

/** `from` must be the first block of a page. */
const arrowPage = (from) => {
  const number = (from - FIRST_BLOCK) / BLOCKS_PER_PAGE
  const [start, end] = [places.arrow[number], places.arrow[number + 1]]
  if (end === undefined) throw new Error(`no page starts with block ${from}`)
  const body = Buffer.allocUnsafe(end - start)
  readSync(arrow, body, 0, body.length, start)
  return body
}

const server = createServer((request, response) => {
  const parts = []
  request.on('data', (part) => parts.push(part))
  request.on('end', () => {
    const send = (type, body) => {
      response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(body) })
      response.end(body)
    }
    if (request.url === '/height') {
      send('application/json', `{"height":${height}}`)
      return
    }
    const { from_block: from, to_block: end = height + 1 } = JSON.parse(Buffer.concat(parts).toString())
    if (request.url === '/query') send('application/json', jsonPage(from, end))
    else send('application/octet-stream', arrowPage(from))
  })
})
// Decoding a page may take longer than the default of five seconds.
server.keepAliveTimeout = 0
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
