import type { z } from 'zod'
import type { View } from './section.ts'
import { amount, byName, digits, flag, shape, word } from './shapes.ts'

const schema = shape({
  header: shape({ hostname: word, date: word, uptimeSeconds: amount, version: word }),
  config: shape({
    network: word,
    chain: word,
    chainId: digits,
    secpPublicKey: word,
    blsPublicKey: word,
    nodeSignature: word,
    selfAddress: word,
    selfAuthPort: digits,
    recordSeqNum: digits,
  }),
  services: byName(word),
  cleanup: shape({ activated: flag, previousSeconds: amount, nextSeconds: amount }),
  peers: digits,
  consensus: shape({
    status: word,
    mode: word,
    epoch: digits,
    round: digits,
    blockNumber: digits,
    externalBlockNumber: digits,
    blockDifference: digits,
  }),
  statesync: shape({ progressRatio: amount, progressBlock: digits, targetBlock: digits }),
  rpc: shape({ status: word, clientVersion: word, netVersion: word, blockNumber: digits }),
})

/** The node's own status report. */
export const reportIn = (view: View): z.output<typeof schema> => view.reading('status', schema)

export const BY_REPORT = { from: 'status', by: 'the status report' } as const
