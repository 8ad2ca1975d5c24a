// Reads all pages by one reader in its own process; prints what it and the service used.
//   node worker.mjs READER URL LOGS
import { createHash } from 'node:crypto'
import { measured } from '../measure.mjs'
import { readers } from './readers.mjs'

const FIRST_BLOCK = 1_000_000
const LOGS_PER_BLOCK = 100
/** Of a page: 20,000 logs. */
const BLOCKS = 200

const [name, url, count] = process.argv.slice(2)
const logs = Number(count)
const read = await readers[name](url)
const whole = { first: FIRST_BLOCK, end: FIRST_BLOCK + logs / LOGS_PER_BLOCK, blocks: BLOCKS }
const cpuOfService = async () => (await fetch(`${url}/cpu`)).json()

// The page that is not counted has all of its values compared.
const hash = createHash('sha256')
let isDecoded = true
await read({ ...whole, end: FIRST_BLOCK + BLOCKS }, (rows, valuesOf) => {
  isDecoded = rows !== null
  for (const row of rows ?? []) hash.update(`${valuesOf(row).join(' ')}\n`)
})

let found = 0
const served = await cpuOfService()
const take = await measured(() =>
  read(whole, (rows) => {
    found += rows?.length ?? 0
  }),
)
const bytes = take.value
const service = (await cpuOfService()) - served
if (isDecoded && found !== logs) throw new Error(`${found} logs, not ${logs}`)

const figures = {
  'service: CPU, µs a log': (service * 1e6) / logs,
  'reader: CPU, µs a log': (take.cpu * 1e6) / logs,
  'logs per second': logs / take.elapsed,
  ...(bytes !== undefined && { 'bytes a log': bytes / logs }),
}
const result = isDecoded ? { result: `SHA-256 of a page ${hash.digest('hex').slice(0, 16)}` } : {}
process.stdout.write(`${JSON.stringify({ figures, ...result })}\n`, () => process.exit())
