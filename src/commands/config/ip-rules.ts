import { getServers } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Config } from '../../config/schema.ts'
import { asError, SourceError } from '../../core/errors.ts'
import { readSecretFile } from '../../sources/credential-file.ts'

/** The addresses of a host name. Rejects if it has none. */
export type Resolve = (host: string) => Promise<readonly string[]>

interface IpRulesOptions {
  /** Addresses and networks that may connect to the agent, such as that of Prometheus. */
  readonly clients: readonly string[]
  readonly resolve?: Resolve
  readonly nameServers?: readonly string[]
}

const resolveAll: Resolve = async (host) => (await lookup(host, { all: true })).map(({ address }) => address)

/**
 * A drop-in for the unit of the agent: systemd then drops all packets except those from and to the addresses of the
 * configuration. Throws a SourceError if a name cannot be resolved: with incomplete rules a source would be unreachable.
 */
export const renderIpRules = async (config: Config, options: IpRulesOptions): Promise<string> => {
  const { clients, resolve = resolveAll, nameServers = getServers() } = options
  const rules = [
    rule('this host', ['localhost']),
    rule('name servers', nameServers.map(withoutPort)),
    ...(clients.length > 0 ? [rule('clients', clients)] : []),
  ]
  for (const [key, host] of await hostsOf(config)) {
    if (host !== 'localhost') rules.push(rule(`${key}: ${host}`, await addressesOf(key, host, resolve)))
  }
  return ['[Service]', 'IPAddressDeny=any', ...rules].join('\n')
}

const rule = (comment: string, addresses: readonly string[]): string =>
  [`# ${comment}`, ...[...new Set(addresses)].map((address) => `IPAddressAllow=${address}`)].join('\n')

const withoutPort = (server: string): string => /^\[(.*)\]/.exec(server)?.[1] ?? server.replace(/^([\d.]+):\d+$/, '$1')

const addressesOf = async (key: string, host: string, resolve: Resolve): Promise<readonly string[]> => {
  if (isIP(host) > 0) return [host]
  try {
    return await resolve(host)
  } catch (error) {
    throw new SourceError({
      doing: `resolve ${host}, the host of ${key}`,
      happened: asError(error).message,
      advice: 'repair the name or the name server; rules without it would make it unreachable',
    })
  }
}

/** Key and host name of every URL in the configuration that the agent requests. */
const hostsOf = async ({ rpc, native, traffic, references, heartbeat, alertmanagers }: Config) => {
  const urls: readonly (readonly [key: string, url: string | null])[] = [
    ['rpc.url', rpc.url],
    ['native.url', native.url],
    ['native.fallbackUrl', native.fallbackUrl],
    ['traffic.url', traffic.url],
    ...references.map(({ name, url }) => [`references.${name}`, url] as const),
    ...alertmanagers.urls.map((url) => ['alertmanagers.urls', url] as const),
    ['heartbeat.urlFile', heartbeat.urlFile === null ? null : await readSecretFile(heartbeat.urlFile, 'URL')],
  ]
  return urls.flatMap(([key, url]) => (url === null ? [] : [[key, hostOf(key, url)] as const]))
}

/** The URL may be a secret: an error is without it. */
const hostOf = (key: string, url: string): string => {
  if (URL.canParse(url)) return new URL(url).hostname.replace(/^\[(.*)\]$/, '$1')
  throw new SourceError({ doing: `find the host of ${key}`, happened: 'the content is not a URL' })
}
