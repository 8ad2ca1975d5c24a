import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { debianPackage, debianPackagesOf, packagedVersion } from './debian.ts'
import { freePort } from './free-port.ts'
import { instantQuery } from './prometheus.ts'
import { run, startServer } from './programs.ts'
import { requireRealPart, versionsToTest } from './real-parts.ts'

/** Oldest first: that of this machine's Debian, which the how-to installs, and those of newer releases of Debian. */
const RELEASES = { '1.79': 'bookworm', '1.112': 'trixie', '1.145': 'sid' } as const
type VictoriaVersion = keyof typeof RELEASES
const NEWEST: VictoriaVersion = '1.145'
export const VICTORIAS: readonly VictoriaVersion[] = versionsToTest([NEWEST, '1.112', '1.79'])

const unpacked = async (version: VictoriaVersion): Promise<string> =>
  version === '1.79'
    ? debianPackage('victoria-metrics')
    : debianPackagesOf({ release: RELEASES[version], packages: ['victoria-metrics'], version })

const program = async (name: string, version: VictoriaVersion = NEWEST): Promise<string> =>
  join(await unpacked(version), 'usr/bin', name)

/** `describe` for a suite with this version, by default the newest. */
export const requireVictoria = async (version?: VictoriaVersion) =>
  requireRealPart(version === undefined ? 'victoria-metrics' : `VictoriaMetrics ${version}`, async () => ({
    version: await packagedVersion(await unpacked(version ?? NEWEST), 'victoria-metrics'),
  }))

/** The errors of vmalert in these files of rules; empty if it loads them. */
export const rejectedByVmalert = async (
  files: readonly string[],
  version: VictoriaVersion = NEWEST,
): Promise<string> => {
  const args = ['-dryRun', ...files.map((file) => `-rule=${file}`)]
  const { code, stdout, stderr } = await run(await program('vmalert', version), args)
  return code === 0 ? '' : `${stdout}${stderr}`
}

/** A real VictoriaMetrics, a single one, and empty. */
export const startVictoria = async () => {
  const directory = await mkdtemp(join(tmpdir(), 'chain-victoria-'))
  const address = `127.0.0.1:${await freePort()}`
  const server = await startServer(`http://${address}/health`, await program('victoria-metrics'), [
    `-storageDataPath=${directory}`,
    `-httpListenAddr=${address}`,
    '-retentionPeriod=1y',
    '-loggerLevel=WARN',
  ])
  return {
    /** HOST:PORT. */
    address,
    /** `at` in seconds since the epoch: evaluates at that time. Without it, at the default time. */
    query: async (expression: string, at?: number) => instantQuery(address, expression, at),
    /** Each a series with its samples, in the JSON of `/api/v1/import`; they are there for queries afterwards. */
    importLines: async (lines: readonly string[]): Promise<void> => {
      const post = async (path: string, body: string): Promise<void> => {
        const { ok, status } = await fetch(`http://${address}${path}`, { method: 'POST', body })
        if (!ok) throw new Error(`${path} returned status ${status}`)
      }
      await post('/api/v1/import', lines.join('\n'))
      await post('/internal/force_flush', '')
    },
    stop: async () => {
      await server.stop()
      await rm(directory, { recursive: true })
    },
  }
}

export type Victoria = Awaited<ReturnType<typeof startVictoria>>
