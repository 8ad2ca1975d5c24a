import { parseUnitFiles, UNIT_FILE_PROPERTIES } from '../../../parsers/systemctl.ts'
import { isPortInUse } from '../../../sources/endpoints.ts'
import type { Finding } from '../../../health/finding.ts'
import { ParseError, SourceError } from '../../../core/errors.ts'
import { version } from '../../../core/version.ts'
import { fetchSnapshot } from '../../shared/agent-snapshot.ts'
import { finding, type PreflightCheck, type PreflightContext } from './context.ts'

const UNIT = 'chain-agent.service'
const NO_AGENT = 'no agent watches this node'

/** Whether an agent runs on this host, and whether it has the installed version. */
export const agent: PreflightCheck = {
  name: 'the agent that runs here',
  run: async (context) => {
    try {
      const snapshot = await fetchSnapshot(context)
      if (snapshot === null) return await noAgent(context)
      return snapshot.version === version ? [] : [otherVersion(snapshot.version)]
    } catch (error) {
      if (!(error instanceof SourceError || error instanceof ParseError)) throw error
      return [otherListener(context, error.summary)]
    }
  },
}

const addressOf = ({ config: { listen } }: PreflightContext): string => `${listen.host}:${listen.port}`

const noAgent = async (context: PreflightContext): Promise<readonly Finding[]> => {
  const { clock, config } = context
  if (await isPortInUse(clock, config.listen)) {
    return [otherListener(context, 'the process that listens there does not answer as an agent')]
  }
  const isInstalled = await hasUnit(context)
  return [
    finding('ChainAgentDown', 'warning', {
      says: NO_AGENT,
      evidence: [
        `No process listens on ${addressOf(context)}; the port is free.`,
        ...(isInstalled === false ? [`systemd does not know ${UNIT}.`] : []),
      ],
      advice:
        isInstalled === false
          ? ['Install its unit: "Install on a node" in README.md.']
          : [
              `Start it, now and at each boot: \`sudo systemctl enable --now chain-agent\`.`,
              'If it does not stay up, read its log: `journalctl -u chain-agent -n 20`.',
              'If it listens on another address, pass it: `--listen HOST:PORT`.',
            ],
    }),
  ]
}

/** Undefined if systemd does not answer. */
const hasUnit = async ({ exec, signal }: PreflightContext): Promise<boolean | undefined> => {
  const args = ['show', `--property=${UNIT_FILE_PROPERTIES.join(',')}`, UNIT]
  try {
    const { stdout } = await exec.run({ command: 'systemctl', args }, signal)
    return parseUnitFiles(stdout).find(({ unit }) => unit === UNIT)?.isLoaded
  } catch (error) {
    if (error instanceof SourceError) return undefined
    throw error
  }
}

const otherListener = (context: PreflightContext, summary: string): Finding =>
  finding('ChainAgentDown', 'warning', {
    says: `${NO_AGENT}: something else answers at ${addressOf(context)}`,
    evidence: [summary],
    advice: [
      `See which process listens there: \`sudo ss -ltnp 'sport = :${context.config.listen.port}'\`.`,
      'Set another address in `listen:` of the configuration of the agent, or stop the other process.',
    ],
  })

const otherVersion = (running: string): Finding =>
  finding('agent version', 'warning', {
    says: `the running agent is ${running}, and ${version} is installed`,
    advice: ['Restart it: `sudo systemctl restart chain-agent`.'],
  })
