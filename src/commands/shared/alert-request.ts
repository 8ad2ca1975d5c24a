import { rootCertificates } from 'node:tls'
import type { Config } from '../../config/schema.ts'
import { readText } from '../../core/files.ts'
import { LIMITS } from '../../core/limits.ts'
import { ifUnreadable } from '../../core/errors.ts'
import { createHostSources } from '../../sources/host.ts'
import { createHttpClient, type SendRequest } from '../../sources/http.ts'
import { type Io, sourceContext } from '../../terminal/io.ts'
import { withHost } from './with-host.ts'

/** The labels of an alert that a command sends: those of the alerts of the agent on this host. */
export const alertLabels = async (
  { alertmanagers, host }: Config,
  own: Readonly<Record<'alertname' | 'severity', string>>,
): Promise<Readonly<Record<string, string>>> => {
  const { job, instance, labels } = alertmanagers
  const { procfs } = createHostSources(host)
  const hostName = await procfs.read('sys/kernel/hostname').catch(() => null)
  return { ...labels, ...own, component: 'agent', job, instance: instance ?? hostName?.trim() ?? 'this host' }
}

/** A client that trusts what the running agent trusts. */
export const clientOf = async (io: Io, config: Config): Promise<SendRequest> =>
  io.overrides?.ask ?? createHttpClient(io.clock, await authoritiesOf(io, config))

const UNIT = 'chain-agent.service'

/**
 * The authorities that the running agent trusts, by NODE_EXTRA_CA_CERTS in its environment; undefined if it has none, or
 * only root can read the environment. Nothing else of it is used.
 */
const authoritiesOf = async (io: Io, config: Config): Promise<readonly string[] | undefined> => {
  const args = ['show', '--property=MainPID', '--value', UNIT]
  const environment = await withHost({ config, ...sourceContext(io) }, async (exec) => {
    const { stdout } = await exec.run({ command: 'systemctl', args }, io.signal)
    return createHostSources(config.host).procfs.read(`${stdout.trim()}/environ`)
  }).catch(ifUnreadable(() => null))
  const [, file] = /(?:^|\0)NODE_EXTRA_CA_CERTS=([^\0]+)/.exec(environment ?? '') ?? []
  // Like Node.js, ignores a file that cannot be read.
  const added = file === undefined ? null : await readText(file, LIMITS.config.fileBytes).catch(() => null)
  return added === null ? undefined : [...rootCertificates, added]
}
