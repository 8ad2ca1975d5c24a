import { isIP } from 'node:net'
import { renderExampleConfig, describeSource, renderSettings, settingsAsJson } from '../../config/render.ts'
import { configOf } from '../../terminal/config.ts'
import type { ConfigOptions } from '../../terminal/config-options.ts'
import { type ActionContext, type Io, UsageError } from '../../terminal/io.ts'
import { type OutputOptions, jsonText, linesText } from '../../terminal/output.ts'
import { renderIpRules } from './ip-rules.ts'

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
  const rules = await renderIpRules(config, { clients })
  return `# Written by chain-agent config --ip-rules; configuration file: ${describeSource(source)}\n${rules}`
}

const isNetwork = (text: string): boolean => {
  const [address = '', bits, ...rest] = text.split('/')
  const isBits = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (isIP(address) === 4 ? 32 : 128))
  return isIP(address) > 0 && isBits && rest.length === 0
}
