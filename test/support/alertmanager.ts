import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { debianPackage, debianPackagesOf } from './debian.ts'
import { freePort } from './free-port.ts'
import { must, startServer } from './programs.ts'
import { requireRealPart, versionsToTest } from './real-parts.ts'

/** Oldest first, each from the release of Debian that has it. */
const RELEASES = { '0.25': 'bookworm', '0.28': 'trixie', '0.33': 'sid' } as const
export type AlertmanagerVersion = keyof typeof RELEASES
const NEWEST: AlertmanagerVersion = '0.33'
export const ALERTMANAGERS: readonly AlertmanagerVersion[] = versionsToTest([NEWEST, '0.28', '0.25'])

const unpacked = async (version: AlertmanagerVersion): Promise<string> =>
  version === '0.25'
    ? debianPackage('prometheus-alertmanager')
    : debianPackagesOf({ release: RELEASES[version], packages: ['prometheus-alertmanager'], version })

export const amtool = async (version: AlertmanagerVersion = NEWEST): Promise<string> =>
  join(await unpacked(version), 'usr/bin/amtool')

/**
 * Debian's Alertmanager ends where it finds no /usr/share/prometheus/alertmanager/default.tmpl. The package is unpacked
 * and not installed, so it sees its own share over that of the machine: in a mount namespace, which is private and
 * needs no privileges.
 */
const inNamespace = (place: string): readonly string[] => [
  '--mount',
  '--map-root-user',
  'sh',
  '-c',
  'mount -t overlay -o "lowerdir=$0/usr/share:/usr/share" overlay /usr/share && exec "$0/usr/bin/prometheus-alertmanager" "$@"',
  place,
]

/** `describe` for a suite with this version, by default the newest. */
export const requireAlertmanager = async (version?: AlertmanagerVersion) =>
  requireRealPart(version === undefined ? 'alertmanager' : `Alertmanager ${version}`, async () => {
    const text = await must('unshare', [...inNamespace(await unpacked(version ?? NEWEST)), '--version'])
    return { version: /version (\d[\d.]*)/.exec(text)?.[1] ?? 'unknown' }
  })

interface AlertmanagerOptions {
  readonly version?: AlertmanagerVersion | undefined
  readonly flags?: readonly string[]
}

/** A real Alertmanager with its configuration, a text or a value, and its data in this directory: ready, without its gossip. */
export const startAlertmanager = async (
  directory: string,
  config: string | object,
  { version = NEWEST, flags = [] }: AlertmanagerOptions = {},
) => {
  const address = `127.0.0.1:${await freePort()}`
  const file = join(directory, 'alertmanager.yml')
  await writeFile(file, typeof config === 'string' ? config : JSON.stringify(config))
  const { output, stop } = await startServer(`http://${address}/-/ready`, 'unshare', [
    ...inNamespace(await unpacked(version)),
    `--config.file=${file}`,
    `--storage.path=${join(directory, 'alertmanager')}`,
    `--web.listen-address=${address}`,
    '--cluster.listen-address=',
    '--log.level=warn',
    ...flags,
  ])
  const api = `http://${address}/api/v2/alerts`
  return {
    /** HOST:PORT. */
    address,
    output,
    stop,
    /** Throws unless they are accepted. */
    post: async (alerts: readonly unknown[]): Promise<void> => {
      const headers = { 'content-type': 'application/json' }
      const { status } = await fetch(api, { method: 'POST', headers, body: JSON.stringify(alerts) })
      if (status !== 200) throw new Error(`${status}\n${output()}`)
    },
    /** What /api/v2/alerts returns. */
    alerts: async (): Promise<unknown> => (await fetch(api)).json(),
  }
}
