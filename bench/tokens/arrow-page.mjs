// A page in the default format of the official client: one Cap'n Proto message, packed, of
//   struct QueryResponse { archiveHeight @0 :Int64; nextBlock @1 :UInt64; totalExecutionTime @2 :UInt64;
//                          data @3 :QueryResponseData; rollbackGuard @4 :RollbackGuard; }
//   struct QueryResponseData { blocks @0 :Data; transactions @1 :Data; logs @2 :Data; traces @3 :Data; }
// with an Arrow file in each Data.
import { Binary, Field, makeData, RecordBatch, Schema, Struct, Table, tableToIPC, Uint64 } from 'apache-arrow'

const COLUMNS = ['topic0', 'topic1', 'topic2', 'data']
const schema = new Schema([
  ...['block_number', 'log_index'].map((name) => new Field(name, new Uint64(), true)),
  ...COLUMNS.map((name) => new Field(name, new Binary(), true)),
])
const empty = Buffer.from(tableToIPC(new Table(new Schema([])), 'file'))

export const arrowPage = (logs, { height, next }) => {
  const length = logs.length
  const numbers = (pick) => makeData({ type: new Uint64(), length, data: BigUint64Array.from(logs, pick) })
  const valueOffsets = Int32Array.from({ length: length + 1 }, (_, index) => index * 32)
  const words = COLUMNS.map((_, column) => {
    const data = new Uint8Array(Buffer.from(logs.map((log) => log.words[column]).join(''), 'hex'))
    return makeData({ type: new Binary(), length, valueOffsets, data })
  })
  const children = [numbers((log) => BigInt(log.block)), numbers((log) => BigInt(log.logIndex)), ...words]
  const struct = makeData({ type: new Struct(schema.fields), length, children })
  const table = new Table(schema, [new RecordBatch(schema, struct)])
  return packed(
    message({
      height,
      next,
      tables: [empty, empty, Buffer.from(tableToIPC(table, 'file')), empty],
    }),
  )
}

/** One segment: root pointer, QueryResponse (3 words of data, 2 pointers), QueryResponseData (4 pointers), the bytes. */
const message = ({ height, next, tables }) => {
  const [response, data, bytes] = [1, 6, 10]
  const sizes = tables.map((table) => Math.ceil(table.length / 8))
  const total = bytes + sizes.reduce((sum, size) => sum + size, 0)
  const out = Buffer.alloc(8 + total * 8)
  out.writeUInt32LE(0, 0)
  out.writeUInt32LE(total, 4)
  const place = (word) => 8 + word * 8
  const struct = (at, to, [dataWords, pointers]) => {
    out.writeUInt32LE(((to - at - 1) << 2) >>> 0, place(at))
    out.writeUInt16LE(dataWords, place(at) + 4)
    out.writeUInt16LE(pointers, place(at) + 6)
  }
  struct(0, response, [3, 2])
  out.writeBigInt64LE(BigInt(height), place(response))
  out.writeBigUInt64LE(BigInt(next), place(response + 1))
  out.writeBigUInt64LE(1n, place(response + 2))
  struct(response + 3, data, [0, 4])
  let to = bytes
  for (const [index, table] of tables.entries()) {
    const at = data + index
    // A list of bytes: 1 in the low bits, 2 as the size of an element.
    out.writeUInt32LE((((to - at - 1) << 2) | 1) >>> 0, place(at))
    out.writeUInt32LE(((table.length << 3) | 2) >>> 0, place(at) + 4)
    table.copy(out, place(to))
    to += sizes[index]
  }
  return out
}

/** Cap'n Proto's packing: a tag byte tells which of a word's eight bytes follow; runs of empty and of full words are encoded as counts. */
const packed = (words) => {
  const out = Buffer.allocUnsafe(words.length + Math.ceil(words.length / 4) + 16)
  let size = 0
  const isEmpty = (at) => at < words.length && words.readBigUInt64LE(at) === 0n
  for (let at = 0; at < words.length;) {
    const tagAt = size
    let tag = 0
    size += 1
    for (let bit = 0; bit < 8; bit += 1) {
      if (words[at + bit] === 0) continue
      tag |= 1 << bit
      out[size] = words[at + bit]
      size += 1
    }
    out[tagAt] = tag
    at += 8
    if (tag === 0) {
      let run = 0
      while (run < 255 && isEmpty(at + run * 8)) run += 1
      out[size] = run
      size += 1
      at += run * 8
    } else if (tag === 255) {
      const run = Math.min(255, (words.length - at) / 8)
      out[size] = run
      size += 1
      words.copy(out, size, at, at + run * 8)
      size += run * 8
      at += run * 8
    }
  }
  return out.subarray(0, size)
}
