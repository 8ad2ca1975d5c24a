import { isPortInUse } from '../../../sources/endpoints.ts'
import type { Finding } from '../../../health/finding.ts'
import { createWebConfigFile } from '../../../config/web-config.ts'
import { ConfigError, ifUnreadable } from '../../../core/errors.ts'
import { isLoopback } from '../../../exporter/web.ts'
import { version } from '../../../core/package.ts'
import { fetchSnapshot } from '../../shared/agent-snapshot.ts'
import { readUnitFiles } from '../../shared/unit-arguments.ts'
import { finding, type PreflightCheck, type PreflightContext } from './context.ts'

const UNIT = 'chain-agent.service'
const NO_AGENT = 'no agent watches this node'

/** Whether an agent runs on this host, and whether it has the installed version. */
export const agent: PreflightCheck = {
  name: 'the agent that runs here',
  run: async (context) => {
    const { origin, version: running } = context.snapshot
    if (origin === 'agent') return running === version ? [] : otherVersion(running)
    const answer = await fetchSnapshot(context).catch(ifUnreadable(({ summary }) => summary))
    if (answer === null) return noAgent(context)
    return typeof answer === 'string' ? otherListener(context, answer) : []
  },
}

const addressOf = ({ config: { listen } }: PreflightContext): string => `${listen.host}:${listen.port}`

const noAgent = async (context: PreflightContext): Promise<readonly Finding[]> => {
  if (await isPortInUse(context.config.listen, context.signal)) {
    return otherListener(context, 'the process that listens there does not answer as an agent')
  }
  // Undefined if systemd does not answer.
  const [unit] = await readUnitFiles(context, UNIT).catch(ifUnreadable(() => []))
  const isInstalled = unit?.isLoaded
  return finding('ChainAgentDown', 'warning', {
    summary: NO_AGENT,
    evidence: [
      `No process listens on ${addressOf(context)}; the port is free.`,
      ...(isInstalled === false ? [`systemd does not know ${UNIT}.`] : []),
    ],
    advice:
      isInstalled === false
        ? ['Install its unit: docs/how-to/install.md.']
        : [
            `Start it, now and at each boot: \`sudo systemctl enable --now chain-agent\`.`,
            'If it does not stay up, read its log: `journalctl -u chain-agent -n 20`.',
            'If it listens on another address, pass it: `--listen HOST:PORT`.',
          ],
  })
}

/** Whether other hosts can read the metrics without a password or a certificate, and whether the agent can start with its file. */
export const exposure: PreflightCheck = {
  name: 'the web configuration file',
  run: async (context) => {
    const { configFile } = context.config.web
    const { host } = context.config.listen
    if (configFile === null) return isLoopback(host) ? [] : openListener(context)
    try {
      await createWebConfigFile(configFile).load()
      return []
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      return finding('web configuration', 'warning', {
        summary: 'the web configuration file is not valid, or this user may not read it',
        evidence: error.message.split('\n'),
        advice: [
          'Until it is fixed, the running agent keeps the previous one, and the agent cannot be restarted.',
          'If only this user may not read it: `sudo chain-agent check`.',
        ],
      })
    }
  },
}

const openListener = (context: PreflightContext): readonly Finding[] =>
  finding('open listener', 'info', {
    summary: 'other hosts can read the metrics of the agent without a password or a certificate',
    evidence: [`The agent listens on ${addressOf(context)} (listen), and web.configFile is not set.`],
    advice: [
      'Let only Prometheus reach this port, in the firewall of the host.',
      'Or set TLS and authentication with `web.configFile`: docs/how-to/tls.md.',
    ],
  })

const otherListener = (context: PreflightContext, summary: string): readonly Finding[] =>
  finding('ChainAgentDown', 'warning', {
    summary: `${NO_AGENT}: something else answers at ${addressOf(context)}`,
    evidence: [summary],
    advice: [
      `See which process listens there: \`sudo ss -ltnp 'sport = :${context.config.listen.port}'\`.`,
      'Set another address in `listen:` of the configuration of the agent, or stop the other process.',
    ],
  })

const otherVersion = (running: string): readonly Finding[] =>
  finding('agent version', 'warning', {
    summary: `the running agent is ${running}, and ${version} is installed`,
    advice: ['Restart it: `sudo systemctl restart chain-agent`.'],
  })

/** References that do not answer, or contradict each other, are an alert. */
export const references: PreflightCheck = {
  name: 'the references',
  run: ({ config, snapshot }) => {
    if (config.references.length === 0) return none
    const { references: all = [] } = snapshot.readings.reference ?? {}
    return all.filter(({ state }) => state === 'another chain').flatMap(({ name }) => onOtherChain(name ?? 'unknown'))
  },
}

/** Whether the agent knows which blocks and rounds are those of the node. */
export const ownKey: PreflightCheck = {
  name: 'the public key of the node',
  run: ({ config, snapshot }) => {
    const isKnown = config.node.publicKey !== null || snapshot.readings.status?.config.secpPublicKey
    return isKnown ? [] : noKey
  },
}

const noKey = finding('node.publicKey', 'info', {
  summary: 'the public key of the node is unknown: own blocks, missed rounds and the leader schedule are not measured',
  advice: ['Add it to the configuration, from the status report: `sudo chain-agent init`.'],
})

const none = finding('references', 'info', {
  summary: 'no reference is configured: only its own clock shows that the node is behind',
  advice: [
    'Add three references of different operators: `sudo chain-agent init -r URL -r URL -r URL`. Two still agree when one is down.',
  ],
})

const onOtherChain = (name: string): readonly Finding[] =>
  finding('ChainBlind.references', 'warning', {
    summary: `the reference ${name} is on another chain than the node`,
    evidence: ['Its chain ID differs from the chain ID of the node.'],
    advice: ['Correct `references:` in the configuration, and restart the agent.'],
  })
