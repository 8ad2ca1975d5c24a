// Runs one program in its own process; prints what it used and a checksum of its CSV.
//   node worker.mjs PROGRAM URL
import { createHash } from 'node:crypto'
import { peakMiB } from '../peak.mjs'
import { programs } from './programs.mjs'

const [name, url] = process.argv.slice(2)
const start = await programs[name]()
const { height } = await (await fetch(`${url}/height`)).json()
const { fetchAll, csv } = start({ url, height })

const [began, used] = [performance.now(), process.cpuUsage()]
await fetchAll()
const texts = csv()
const { user, system } = process.cpuUsage(used)
const seconds = (performance.now() - began) / 1000
const peak = peakMiB()

const hash = createHash('sha256')
for (const text of texts) hash.update(text)
const figures = { 'CPU, s': (user + system) / 1e6, 'elapsed, s': seconds, 'peak RSS, MiB': peak }
const result = `CSV with SHA-256 ${hash.digest('hex').slice(0, 16)}`
// The client keeps connections open.
process.stdout.write(`${JSON.stringify({ figures, result })}\n`, () => process.exit())
