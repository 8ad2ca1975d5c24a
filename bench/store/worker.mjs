// Runs one engine in its own process; prints the time that it used, and a checksum of the rows.
//   node --expose-gc worker.mjs ENGINE fill|ask FOLDER LOGS
import { createHash } from 'node:crypto'
import { measured, peakMiB } from '../measure.mjs'
import { engines } from './engines.mjs'
import { batches, questions } from './history.mjs'

const [engine, task, folder, count] = process.argv.slice(2)
const logs = Number(count)
const REPEATS = 3
const store = await engines[engine](folder)

const fill = async () => {
  const takes = []
  for (const blocks of batches(logs)) takes.push(await measured(() => store.append(blocks)))
  takes.push(await measured(() => store.close()))
  const sum = (name) => takes.reduce((total, take) => total + take[name], 0)
  const peak = peakMiB()
  return { figures: { 'fill: CPU, s': sum('cpu'), 'fill: elapsed, s': sum('elapsed'), 'fill: peak RSS, MiB': peak } }
}

const ask = async () => {
  const figures = {}
  const hash = createHash('sha256')
  let total = 0
  // The largest comes last, so that its garbage is not collected during the others.
  for (const question of questions(logs).toReversed()) {
    const takes = []
    // The first is for the page cache and the compiler.
    for (let repeat = 0; repeat <= REPEATS; repeat += 1) {
      globalThis.gc()
      takes.push(await measured(() => store.ask(question)))
    }
    const sorted = takes.slice(1).toSorted((one, other) => one.cpu - other.cpu)
    const { cpu, value } = sorted[Math.floor(REPEATS / 2)]
    const rows = value()
    // [block, logIndex, topic0, topic1, topic2, data], hex with 0x.
    for (const row of rows) hash.update(`${question.name} ${row.join(' ')}\n`)
    total += rows.length
    figures[`read ${question.name}: CPU, ms`] = cpu * 1000
  }
  await store.close()
  return { figures, result: `${total} rows, SHA-256 ${hash.digest('hex').slice(0, 16)}` }
}

process.stdout.write(`${JSON.stringify(await (task === 'fill' ? fill() : ask()))}\n`)
