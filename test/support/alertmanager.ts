import { join } from 'node:path'
import { debianPackage, debianPackagesOf } from './debian.ts'
import { freePort } from './free-port.ts'
import { must, type Running, startServer } from './programs.ts'
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

export interface Alertmanager extends Pick<Running, 'output' | 'stop'> {
  /** HOST:PORT. */
  readonly address: string
}

/** A real Alertmanager with this configuration, ready, and without its gossip. */
export const startAlertmanager = async (
  config: string,
  storage: string,
  version: AlertmanagerVersion = NEWEST,
): Promise<Alertmanager> => startAlertmanagerWith({ config, storage, version, flags: [] })

interface AlertmanagerOptions {
  readonly config: string
  readonly storage: string
  readonly version: AlertmanagerVersion
  readonly flags: readonly string[]
}

export const startAlertmanagerWith = async (options: AlertmanagerOptions): Promise<Alertmanager> => {
  const { config, storage, version, flags } = options
  const address = `127.0.0.1:${await freePort()}`
  const running = await startServer(`http://${address}/-/ready`, 'unshare', [
    ...inNamespace(await unpacked(version)),
    `--config.file=${config}`,
    `--storage.path=${storage}`,
    `--web.listen-address=${address}`,
    '--cluster.listen-address=',
    '--log.level=warn',
    ...flags,
  ])
  return { address, output: running.output, stop: running.stop }
}
