import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { debianPackage } from './debian.ts'
import { freePort } from './free-port.ts'
import { instantQuery, type Series } from './instant-query.ts'
import { run, startServer } from './programs.ts'
import type { Probe } from './real-parts.ts'

const program = async (name: string): Promise<string> => join(await debianPackage('victoria-metrics'), 'usr/bin', name)

/** Debian builds it without its version: the package's log of changes begins with it. */
export const probeVictoria = async (): Promise<Probe> => {
  try {
    const folder = join(await debianPackage('victoria-metrics'), 'usr/share/doc/victoria-metrics')
    const changes = gunzipSync(await readFile(join(folder, 'changelog.Debian.gz'))).toString()
    return { version: /\((\d[\d.]*)/.exec(changes)?.[1] ?? 'unknown' }
  } catch (error) {
    return { missing: String(error) }
  }
}

/** What vmalert has against these files of rules; empty where it takes them. */
export const refusedByVmalert = async (files: readonly string[]): Promise<string> => {
  const args = ['-dryRun', ...files.map((file) => `-rule=${file}`)]
  const { code, stdout, stderr } = await run(await program('vmalert'), args)
  return code === 0 ? '' : `${stdout}${stderr}`
}

export interface Victoria {
  /** HOST:PORT. */
  readonly address: string
  /** `at` in seconds since the epoch: evaluates at that time. Without it, at the default time. */
  query(expression: string, at?: number): Promise<readonly Series[]>
  stop(): Promise<void>
}

/** A real VictoriaMetrics, a single one, and empty. */
export const startVictoria = async (): Promise<Victoria> => {
  const directory = await mkdtemp(join(tmpdir(), 'chain-victoria-'))
  const address = `127.0.0.1:${await freePort()}`
  const server = await startServer(`http://${address}/health`, await program('victoria-metrics'), [
    `-storageDataPath=${directory}`,
    `-httpListenAddr=${address}`,
    '-retentionPeriod=1y',
    '-loggerLevel=WARN',
  ])
  return {
    address,
    query: async (expression, at) =>
      instantQuery(address, expression, at === undefined ? {} : { time: `${at}`, nocache: '1' }),
    stop: async () => {
      await server.stop()
      await rm(directory, { recursive: true })
    },
  }
}
