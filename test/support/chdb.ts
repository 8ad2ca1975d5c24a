import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { Secret } from '../../src/core/secret.ts'
import type { Answering } from './clickhouse.ts'
import { eventually } from './eventually.ts'
import { installed } from './installed.ts'
import { start } from './programs.ts'
import type { Probe } from './real-parts.ts'

const PLACE = fileURLToPath(new URL('../chdb', import.meta.url))

export const probeChdb = async (): Promise<Probe> => {
  try {
    await installed(PLACE)
    const manifest: unknown = JSON.parse(
      await readFile(join(PLACE, 'node_modules/chdb/package.json'), 'utf8'),
    )
    return { version: `chdb ${z.object({ version: z.string() }).parse(manifest).version}` }
  } catch (error) {
    return { missing: String(error) }
  }
}

/** ClickHouse of today as one server, without a cluster: the engine is in a process of Node. */
export const startChdb = async (): Promise<Answering> => {
  await installed(PLACE)
  const directory = await mkdtemp(join(tmpdir(), `chain-sandbox-${process.pid}-chdb-`))
  const server = start('setpriv', [
    '--pdeathsig=KILL',
    process.execPath,
    join(PLACE, 'server.mjs'),
    directory,
  ])
  const stop = async (): Promise<void> => {
    await server.stop('SIGKILL')
    await rm(directory, { recursive: true, force: true })
  }
  const address = await eventually(
    () => /^127\.0\.0\.1:\d+$/m.exec(server.output())?.[0] ?? '',
    (found) => found !== '',
  ).catch(async (error: unknown) => {
    await stop()
    throw new Error(server.output(), { cause: error })
  })
  return {
    url: `clickhouse://${address}/default`,
    password: new Secret('none'),
    addresses: [address],
    ask: async (statement) => {
      const response = await fetch(`http://${address}/`, { method: 'POST', body: statement })
      const text = await response.text()
      if (!response.ok) throw new Error(text)
      return text.trimEnd()
    },
    stop,
  }
}
