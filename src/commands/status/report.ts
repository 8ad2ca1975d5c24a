import { joined, type Section, summary } from './section.ts'
import { duration } from '../../core/format.ts'
import { second } from '../../core/units.ts'
import { fact } from './fact.ts'

export const FROM_STATUS_REPORT = { collector: 'status', source: 'the status report' } as const

/** The identity of the node. */
export const header: Section = {
  name: 'header',
  label: 'node',
  aliases: ['node'],
  description: 'host name, date, uptime of consensus, version',
  groups: [
    {
      ...FROM_STATUS_REPORT,
      facts: (view) => {
        const { hostname, date, uptimeSeconds, version } = view.readings.status?.header ?? {}
        return [
          fact('hostname', hostname),
          fact('date', date),
          fact('uptimeSeconds', uptimeSeconds, {
            label: 'uptime',
            text: (seconds) => duration(seconds * second),
          }),
          fact('version', version),
        ]
      },
    },
  ],
  summary: (view) => {
    const { hostname, version, uptimeSeconds = null } = view.readings.status?.header ?? {}
    const { network = null, chainId = null } = view.readings.status?.config ?? {}
    const chain = chainId === null ? '' : ` (chain ${chainId})`
    return summary(
      joined([
        hostname,
        version,
        network === null ? null : `${network}${chain}`,
        uptimeSeconds === null ? null : `up ${duration(uptimeSeconds * second)}`,
      ]),
    )
  },
}

/** The configuration of the node. */
export const config: Section = {
  name: 'config',
  description: 'network, chain, public keys, own address and its record',
  groups: [
    {
      ...FROM_STATUS_REPORT,
      facts: (view) => {
        const reading = view.readings.status?.config
        return [
          fact('network', reading?.network),
          fact('chain', reading?.chain),
          fact('chainId', reading?.chainId),
          fact('secpPublicKey', reading?.secpPublicKey),
          fact('blsPublicKey', reading?.blsPublicKey),
          fact('nodeSignature', reading?.nodeSignature),
          fact('selfAddress', reading?.selfAddress),
          // Status reports before 2026 do not have it.
          ...(typeof reading?.selfAuthPort === 'bigint' ? [fact('selfAuthPort', reading.selfAuthPort)] : []),
          fact('recordSeqNum', reading?.recordSeqNum),
        ]
      },
    },
  ],
}
