import { ParseError, SourceError } from '../../../core/errors.ts'
import { version } from '../../../core/version.ts'
import type { Finding } from '../../../health/finding.ts'
import { parseUnitFiles, UNIT_FILE_PROPERTIES } from '../../../parsers/systemctl.ts'
import { isPortInUse } from '../../../sources/port.ts'
import { askAgent } from '../../shared/ask-agent.ts'
import { finding, type Look, type Visit } from './visit.ts'

const UNIT = 'chain-agent.service'
const NONE = 'no agent watches this node'

/** Whether an agent watches the node all the time, and whether it is the one that is installed. */
export const agent: Look = {
  at: 'the agent that runs here',
  look: async (visit) => {
    try {
      const told = await askAgent(visit)
      if (told === null) return await silence(visit)
      return told.version === version ? [] : [otherVersion(told.version)]
    } catch (error) {
      if (!(error instanceof SourceError || error instanceof ParseError)) throw error
      return [stranger(visit, error.summary)]
    }
  },
}

const placeOf = ({ config: { listen } }: Visit): string => `${listen.host}:${listen.port}`

const silence = async (visit: Visit): Promise<readonly Finding[]> => {
  const { clock, config } = visit
  if (await isPortInUse(clock, config.listen)) {
    return [stranger(visit, 'what listens there does not speak as an agent does')]
  }
  const isInstalled = await hasUnit(visit)
  return [
    finding('ChainAgentDown', 'warning', {
      says: NONE,
      evidence: [
        `Nobody listens at ${placeOf(visit)}; the port is free.`,
        ...(isInstalled === false ? [`systemd does not know ${UNIT}.`] : []),
      ],
      advice:
        isInstalled === false
          ? ['Install its unit: "Install on a node" in README.md.']
          : [
              `Start it, now and at each boot: \`sudo systemctl enable --now chain-agent\`.`,
              'Where it does not stay: `journalctl -u chain-agent -n 20`.',
              'Where it listens elsewhere, say where: `--listen HOST:PORT`.',
            ],
    }),
  ]
}

/** Undefined where systemd does not tell. */
const hasUnit = async ({ exec, signal }: Visit): Promise<boolean | undefined> => {
  const args = ['show', `--property=${UNIT_FILE_PROPERTIES.join(',')}`, UNIT]
  try {
    const { stdout } = await exec.run({ command: 'systemctl', args }, signal)
    return parseUnitFiles(stdout).find(({ unit }) => unit === UNIT)?.isLoaded
  } catch (error) {
    if (error instanceof SourceError) return undefined
    throw error
  }
}

const stranger = (visit: Visit, summary: string): Finding =>
  finding('ChainAgentDown', 'warning', {
    says: `${NONE}: something else answers at ${placeOf(visit)}`,
    evidence: [summary],
    advice: [
      `See who listens there: \`sudo ss -ltnp 'sport = :${visit.config.listen.port}'\`.`,
      'Give the agent another address in `listen:` of its configuration, or end the other.',
    ],
  })

const otherVersion = (runs: string): Finding =>
  finding('agent version', 'warning', {
    says: `the agent that runs is ${runs}, and ${version} is installed`,
    advice: ['Start it anew: `sudo systemctl restart chain-agent`.'],
  })
