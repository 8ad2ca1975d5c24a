import type { Check } from '../finding.ts'
import { newestBlock } from '../facts.ts'
import { finding } from './make.ts'

/** Whether there is a node at all: no unit that systemd knows, and nobody who answers at its port. */
export const node: Check = ({ known, prefix }) => {
  const expected = known
    .series('chain_service_expected')
    .filter(({ value }) => value === 1)
    .map(({ labels }) => labels['service'] ?? '')
  const isMissing = (service: string): boolean =>
    known.value('chain_service_state', { service, state: 'not-found' }) === 1
  if (known.value('chain_rpc_up') === 1 || newestBlock(known)) return []
  if (!expected.every(isMissing)) return []
  // Where systemd itself was not to be asked, nobody has told of a node.
  if (expected.length === 0 && known.value('chain_rpc_up') !== 0) return []
  return [
    finding(
      'ChainServiceMissing',
      {
        severity: 'unknown',
        says: 'there is no node on this host, or none that this user can see',
      },
      {
        evidence: [
          expected.length === 0
            ? 'systemd could not be asked for its units.'
            : `systemd knows none of the units ${expected.map((one) => `${prefix ?? 'chain'}-${one}`).join(', ')}.`,
          "Nobody answers at the address of the node's RPC.",
        ],
        advice: [
          "Run it on the node's own host, where systemd is process 1.",
          "If the units have another maker's word before their names, set it: `--prefix WORD`.",
        ],
      },
    ),
  ]
}
