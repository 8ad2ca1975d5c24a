import type { z } from 'zod'
import { joined, type Section, summary, type View } from './section.ts'
import {
  lenientObject,
  nullableFlag,
  nullableInteger,
  nullableNumber,
  nullableText,
  recordOf,
} from './reading-schema.ts'
import { duration } from '../../core/format.ts'
import { second } from '../../core/units.ts'
import { fact } from './fact.ts'

const schema = lenientObject({
  header: lenientObject({
    hostname: nullableText,
    date: nullableText,
    uptimeSeconds: nullableNumber,
    version: nullableText,
  }),
  config: lenientObject({
    network: nullableText,
    chain: nullableText,
    chainId: nullableInteger,
    secpPublicKey: nullableText,
    blsPublicKey: nullableText,
    nodeSignature: nullableText,
    selfAddress: nullableText,
    selfAuthPort: nullableInteger,
    recordSeqNum: nullableInteger,
  }),
  services: recordOf(nullableText),
  cleanup: lenientObject({
    activated: nullableFlag,
    previousSeconds: nullableNumber,
    nextSeconds: nullableNumber,
  }),
  peers: nullableInteger,
  consensus: lenientObject({
    status: nullableText,
    mode: nullableText,
    epoch: nullableInteger,
    round: nullableInteger,
    blockNumber: nullableInteger,
    externalBlockNumber: nullableInteger,
    blockDifference: nullableInteger,
  }),
  statesync: lenientObject({
    progressRatio: nullableNumber,
    progressBlock: nullableInteger,
    targetBlock: nullableInteger,
  }),
  rpc: lenientObject({
    status: nullableText,
    clientVersion: nullableText,
    netVersion: nullableText,
    blockNumber: nullableInteger,
  }),
})

/** The status report of the node, from its status tool. */
export const statusReport = (view: View): z.output<typeof schema> => view.reading('status', schema)

export const FROM_STATUS_REPORT = { collector: 'status', source: 'the status report' } as const

/** The identity of the node. */
export const header: Section = {
  name: 'header',
  label: 'node',
  aliases: ['node'],
  groups: [
    {
      ...FROM_STATUS_REPORT,
      facts: (view) => {
        const { hostname, date, uptimeSeconds, version } = statusReport(view).header
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
    const { header: reading, config } = statusReport(view)
    const chain = config.chainId === null ? '' : ` (chain ${config.chainId})`
    return summary(
      joined([
        reading.hostname,
        reading.version,
        config.network === null ? null : `${config.network}${chain}`,
        reading.uptimeSeconds === null ? null : `up ${duration(reading.uptimeSeconds * second)}`,
      ]),
    )
  },
}

/** The configuration of the node. */
export const config: Section = {
  name: 'config',
  groups: [
    {
      ...FROM_STATUS_REPORT,
      facts: (view) => {
        const reading = statusReport(view).config
        return [
          fact('network', reading.network),
          fact('chain', reading.chain),
          fact('chainId', reading.chainId),
          fact('secpPublicKey', reading.secpPublicKey),
          fact('blsPublicKey', reading.blsPublicKey),
          fact('nodeSignature', reading.nodeSignature),
          fact('selfAddress', reading.selfAddress),
          // Status reports before 2026 do not have it.
          ...(reading.selfAuthPort === null ? [] : [fact('selfAuthPort', reading.selfAuthPort)]),
          fact('recordSeqNum', reading.recordSeqNum),
        ]
      },
    },
  ],
}
