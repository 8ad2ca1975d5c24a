// One way from a history to balances, in a process of its own; prints what it took and a checksum of the balances.
//   node worker.mjs WAY FOLDER [URL]       pages are read from the folder, or fetched from the URL where the way fetches
import { createHash } from 'node:crypto'
import { CONTRACT, FIRST_BLOCK, openHistory } from './layout.mjs'

const [way, folder, url] = process.argv.slice(2)
const { begin } = await import(`./ways/${way}.mjs`)
const history = openHistory(folder)
const run = await begin({ url, contract: CONTRACT, history })

const collect = globalThis.gc ?? (() => {})
collect()
const before = process.memoryUsage.rss()
let busy = 0
let processor = 0
const timed = async (work) => {
  const [start, used] = [performance.now(), process.cpuUsage()]
  await work()
  const { user, system } = process.cpuUsage(used)
  busy += performance.now() - start
  processor += user + system
}
if (run.fetchAll) await timed(run.fetchAll)
else {
  // The reading of a page is not the way's affair; a new buffer each, as a response would be.
  for (let from = FIRST_BLOCK; from <= history.height;) {
    const page = history.page(from, history.height + 1)
    await timed(() => run.page(page))
    from = page.next
  }
}
const used = process.cpuUsage()
/** [address in lower case, balance], those that are not 0, the largest first. */
const rows = run.rows()
const { user, system } = process.cpuUsage(used)
const peak = process.resourceUsage().maxRSS * 1024

const hash = createHash('sha256')
for (const row of rows.map(([address, balance]) => `${address} ${balance}\n`).sort())
  hash.update(row)
console.log(
  JSON.stringify({
    seconds: busy / 1000,
    cpuSeconds: processor / 1e6,
    rowsCpuSeconds: (user + system) / 1e6,
    peakBytes: peak,
    idleBytes: before,
    holders: rows.length,
    checksum: hash.digest('hex').slice(0, 16),
  }),
)
process.exit()
