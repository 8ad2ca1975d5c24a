// Runs one candidate in its own process; prints its cost and a checksum of the balances.
//   node worker.mjs CANDIDATE FOLDER [URL]       reads pages from the folder, or fetches them from the URL
import { createHash } from 'node:crypto'
import { CONTRACT, FIRST_BLOCK, openHistory } from './layout.mjs'

const [candidate, folder, url] = process.argv.slice(2)
const { begin } = await import(`./candidates/${candidate}.mjs`)
const history = openHistory(folder)
const run = await begin({ url, contract: CONTRACT, history })

const collect = globalThis.gc ?? (() => {})
collect()
const before = process.memoryUsage.rss()
let busy = 0
let cpu = 0
const timed = async (work) => {
  const [start, used] = [performance.now(), process.cpuUsage()]
  await work()
  const { user, system } = process.cpuUsage(used)
  busy += performance.now() - start
  cpu += user + system
}
if (run.fetchAll) await timed(run.fetchAll)
else {
  // Reading a page is not measured; each page is a new buffer, like a response.
  for (let from = FIRST_BLOCK; from <= history.height;) {
    const page = history.page(from, history.height + 1)
    await timed(() => run.page(page))
    from = page.next
  }
}
const used = process.cpuUsage()
/** [address in lower case, balance], without balances of 0, the largest first. */
const rows = run.rows()
const { user, system } = process.cpuUsage(used)
const peak = process.resourceUsage().maxRSS * 1024

const hash = createHash('sha256')
for (const row of rows.map(([address, balance]) => `${address} ${balance}\n`).sort()) hash.update(row)
console.log(
  JSON.stringify({
    seconds: busy / 1000,
    cpuSeconds: cpu / 1e6,
    rowsCpuSeconds: (user + system) / 1e6,
    peakBytes: peak,
    idleBytes: before,
    holders: rows.length,
    checksum: hash.digest('hex').slice(0, 16),
  }),
)
process.exit()
