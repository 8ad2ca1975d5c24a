// Runs one engine in its own process and prints the time and memory it used.
//   node worker.mjs ENGINE fill FOLDER LOGS
//   node worker.mjs ENGINE ask FOLDER LOGS
import { createHash } from 'node:crypto'
import { batches, questions } from './history.mjs'

const [engine, what, folder, count] = process.argv.slice(2)
const logs = Number(count)
const ROUNDS = 3
const { open } = await import(`./engines/${engine}.mjs`)
const store = await open(folder, what === 'fill')

if (what === 'fill') {
  let busy = 0
  let longest = 0
  for (const blocks of batches(logs)) {
    const start = performance.now()
    await store.append(blocks)
    const took = performance.now() - start
    busy += took
    longest = Math.max(longest, took)
  }
  const start = performance.now()
  await store.close()
  busy += performance.now() - start
  print({ seconds: busy / 1000, longest, peakBytes: process.resourceUsage().maxRSS * 1024 })
} else {
  const answers = []
  // The largest comes last: what it leaves to be cleared away is not counted to the others.
  for (const question of questions(logs).toReversed()) {
    // The first is for the page cache and the compiler.
    const takes = []
    for (let round = 0; round <= ROUNDS; round += 1) {
      globalThis.gc?.()
      const [start, used] = [performance.now(), process.cpuUsage()]
      const found = await store.ask(question)
      const milliseconds = performance.now() - start
      const { user, system } = process.cpuUsage(used)
      takes.push({ milliseconds, cpu: (user + system) / 1000, rows: found.rows })
    }
    const middle = takes
      .slice(1)
      .toSorted((one, other) => one.milliseconds - other.milliseconds)
      .at(Math.floor(ROUNDS / 2))
    const { milliseconds, cpu, rows } = middle
    answers.push({ name: question.name, milliseconds, cpu, ...checked(rows()) })
  }
  await store.close()
  print({ answers, peakBytes: process.resourceUsage().maxRSS * 1024 })
}

/** Rows as [block, logIndex, topic0, topic1, topic2, data], hex with 0x. */
function checked(rows) {
  const hash = createHash('sha256')
  for (const row of rows) hash.update(`${row.join(' ')}\n`)
  return { rows: rows.length, checksum: hash.digest('hex').slice(0, 16) }
}

function print(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}
