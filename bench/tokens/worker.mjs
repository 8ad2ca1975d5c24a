// Runs one program in its own process; prints what it used and a checksum of its CSV.
//   node worker.mjs PROGRAM URL
import { createHash } from 'node:crypto'
import { measured, peakMiB } from '../measure.mjs'
import { programs } from './programs.mjs'

const [name, url] = process.argv.slice(2)
const start = await programs[name]()
const { height } = await (await fetch(`${url}/height`)).json()
const { fetchAll, csv } = start({ url, height })

const {
  value: texts,
  cpu,
  elapsed,
} = await measured(async () => {
  await fetchAll()
  return csv()
})
const peak = peakMiB()

const hash = createHash('sha256')
for (const text of texts) hash.update(text)
const figures = { 'CPU, s': cpu, 'elapsed, s': elapsed, 'peak RSS, MiB': peak }
const result = `CSV with SHA-256 ${hash.digest('hex').slice(0, 16)}`
// The client keeps connections open.
process.stdout.write(`${JSON.stringify({ figures, result })}\n`, () => process.exit())
