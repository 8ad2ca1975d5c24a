import { duration } from '../../core/format.ts'
import { second } from '../../core/units.ts'
import { fact } from './fact.ts'
import { BY_REPORT, reportIn } from './report.ts'
import { joined, type Section, summary } from './section.ts'

/** Which node it is. */
export const header: Section = {
  name: 'header',
  label: 'node',
  also: ['node'],
  about: 'host name, date, uptime of consensus, version',
  groups: [
    {
      ...BY_REPORT,
      facts: (view) => {
        const { hostname, date, uptimeSeconds, version } = reportIn(view).header
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
    const { header: told, config } = reportIn(view)
    const chain = config.chainId === null ? '' : ` (chain ${config.chainId})`
    return summary(
      joined([
        told.hostname,
        told.version,
        config.network === null ? null : `${config.network}${chain}`,
        told.uptimeSeconds === null ? null : `up ${duration(told.uptimeSeconds * second)}`,
      ]),
    )
  },
}

/** What it is configured to be. */
export const config: Section = {
  name: 'config',
  about: 'network, chain, public keys, own address and its record',
  groups: [
    {
      ...BY_REPORT,
      facts: (view) => {
        const told = reportIn(view).config
        return [
          fact('network', told.network),
          fact('chain', told.chain),
          fact('chainId', told.chainId),
          fact('secpPublicKey', told.secpPublicKey),
          fact('blsPublicKey', told.blsPublicKey),
          fact('nodeSignature', told.nodeSignature),
          fact('selfAddress', told.selfAddress),
          // Reports of before 2026 have none.
          ...(told.selfAuthPort === null ? [] : [fact('selfAuthPort', told.selfAuthPort)]),
          fact('recordSeqNum', told.recordSeqNum),
        ]
      },
    },
  ],
}
