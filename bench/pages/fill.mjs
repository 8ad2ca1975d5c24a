// Fills a store with the blocks of the comparison `store`.
//   node fill.mjs FOLDER LOGS
import { mkdirSync } from 'node:fs'
import { batches } from '../store/history.mjs'
import { openStore } from './open-store.mjs'

const [folder, logs] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })
const store = await openStore(folder)
for (const blocks of batches(Number(logs))) await store.append(blocks)
await store.close()
