import { getServers } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { describeSource, renderExampleConfig, renderSettings, settingsAsJson } from '../../config/render.ts'
import type { Config } from '../../config/schema.ts'
import { asError, SourceError } from '../../core/errors.ts'
import { readSecretFile } from '../../sources/credential-file.ts'
import type { ConfigOptions } from '../../terminal/config-options.ts'
import { configOf } from '../../terminal/config.ts'
import { type ActionContext, type Io, UsageError } from '../../terminal/io.ts'
import { jsonText, linesText, type OutputOptions } from '../../terminal/output.ts'

const LOOPBACK = /^(?:localhost|127\..*|::1)$/

interface Options extends ConfigOptions, OutputOptions {
  readonly example?: true
  readonly ipRules?: true
  readonly client?: readonly string[]
}

export const printConfig = async ({ io, exit, options }: ActionContext<Options>): Promise<void> => {
  if (options.client && !options.ipRules) throw new UsageError('--client is for --ip-rules')
  if (options.example) io.stdout.write(renderExampleConfig())
  else if (options.ipRules) io.stdout.write(`${await ipRulesOf(io, options)}\n`)
  else {
    const { settings, source } = configOf(io, options)
    // Not in ASCII in any locale: it is the text of a configuration.
    io.stdout.write(
      options.json
        ? jsonText({ file: source?.path ?? null, settings: settingsAsJson(settings) })
        : linesText([`# configuration file: ${describeSource(source)}`, renderSettings(settings)]),
    )
  }
  exit(0)
}

const ipRulesOf = async (io: Io, options: Options): Promise<string> => {
  const { client: clients = [] } = options
  const { config, source } = configOf(io, options)
  const invalid = clients.find((client) => !isNetwork(client))
  if (invalid !== undefined) {
    throw new UsageError(`--client ${invalid}: expected an address or a network, like 10.0.0.5 or 10.0.0.0/24`)
  }
  if (clients.length === 0 && !LOOPBACK.test(config.listen.host)) {
    throw new UsageError(
      `the agent listens on ${config.listen.host}: name with --client who may connect, such as the address of Prometheus`,
    )
  }
  const rules = await renderIpRules(config, clients)
  return `# Written by chain-agent config --ip-rules; configuration file: ${describeSource(source)}\n${rules}`
}

const isNetwork = (text: string): boolean => {
  const [address = '', bits, ...rest] = text.split('/')
  const isBits = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (isIP(address) === 4 ? 32 : 128))
  return isIP(address) > 0 && isBits && rest.length === 0
}

/** The addresses of a host name. Rejects if it has none. */
const resolveAll = async (host: string): Promise<readonly string[]> =>
  (await lookup(host, { all: true })).map(({ address }) => address)

/**
 * A drop-in for the unit of the agent: systemd then drops all packets except those from and to the addresses of the
 * configuration and of `clients`, such as Prometheus. Throws a SourceError if a name cannot be resolved: with incomplete rules a source would be unreachable.
 */
export const renderIpRules = async (
  config: Config,
  clients: readonly string[],
  {
    resolve = resolveAll,
    nameServers = getServers(),
  }: { resolve?: typeof resolveAll; nameServers?: readonly string[] } = {},
): Promise<string> => {
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

const addressesOf = async (key: string, host: string, resolve: typeof resolveAll): Promise<readonly string[]> => {
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
