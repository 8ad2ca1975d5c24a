// Reads all pages by one reader in its own process; prints what it and the service used.
//   node worker.mjs READER URL LOGS
import { createHash } from 'node:crypto'
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
const [began, used] = [performance.now(), process.cpuUsage()]
const bytes = await read(whole, (rows) => {
  found += rows?.length ?? 0
})
const { user, system } = process.cpuUsage(used)
const seconds = (performance.now() - began) / 1000
const service = (await cpuOfService()) - served
if (isDecoded && found !== logs) throw new Error(`${found} logs, not ${logs}`)

const figures = {
  'service: CPU, µs a log': (service * 1e6) / logs,
  'reader: CPU, µs a log': (user + system) / logs,
  'logs per second': logs / seconds,
  ...(bytes !== undefined && { 'bytes a log': bytes / logs }),
}
const result = isDecoded ? { result: `SHA-256 of a page ${hash.digest('hex').slice(0, 16)}` } : {}
process.stdout.write(`${JSON.stringify({ figures, ...result })}\n`, () => process.exit())
