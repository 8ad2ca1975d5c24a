import { join } from 'node:path'
import { mkdir, rm, stat } from 'node:fs/promises'
import { type Comparison, inTurn, installPeers, packageName, ROOT, type Take, take } from '../comparison.ts'

interface Engine {
  /** The name in engines.mjs. */
  readonly engine: string
  readonly name: string
  /** The database; absent if the engine reads the one of chain-agent. */
  readonly database?: string
  readonly node?: string
}

const NODE_22 = join(import.meta.dirname, '../node_modules/node22/bin/node')

export const store: Comparison = {
  name: 'store',
  title: 'Store of event logs',
  fairness: `All engines are filled with the same blocks, 100,000 logs a transaction, each written through to the disk, and answer the same
filters with the same rows as hex text, whose checksums must be equal. Each runs in a process of its own. chain-agent returns all pages of at
most 20,000 logs. DuckDB by hand is one SQL statement over the file of chain-agent, with the same threads and memory; SQLite has an index on contract, topic
and block. A read counts the median of three, after one that is not counted; CPU time is of all
threads. The memory of filling contains the blocks, which are the same for all.`,
  open: async ({ folder, logs }) => {
    const missing = await installPeers()
    const engines: Engine[] = [
      { engine: 'chain-agent', name: 'chain-agent', database: 'duckdb/duckdb/logs.duckdb' },
      { engine: 'duckdb', name: `${await packageName('@duckdb/node-api', ROOT)} by hand` },
    ]
    if (missing === undefined) {
      const name = `${await packageName('better-sqlite3')} (Node.js 22)`
      engines.push({ engine: 'better-sqlite3', name, database: 'logs.sqlite', node: NODE_22 })
    }
    const place = join(folder, 'store')
    const run = async ({ engine, node }: Engine, task: string): Promise<Take> =>
      take(['--expose-gc', 'store/worker.mjs', engine, task, place, `${logs}`], node)
    const measure = async (engine: Engine): Promise<Take> => {
      const read = async (): Promise<Take> => run(engine, 'ask')
      if (engine.database === undefined) return read()
      const filled = await run(engine, 'fill')
      const { size } = await stat(join(place, engine.database))
      const { figures, ...rest } = await read()
      return { figures: { ...filled.figures, 'disk, bytes a log': size / logs, ...figures }, ...rest }
    }
    return {
      programs: engines.map(({ name }) => name),
      skipped: missing === undefined ? [] : [{ name: 'better-sqlite3', reason: missing }],
      round: async () => {
        await mkdir(place)
        try {
          return await inTurn(engines, measure)
        } finally {
          await rm(place, { recursive: true })
        }
      },
    }
  },
}
