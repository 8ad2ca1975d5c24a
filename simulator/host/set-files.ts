import { digest, type Validator } from '../chain.ts'
import type { SimulatedNode } from '../subject.ts'

/** The files with the sets of validators: written again when the set of the next epoch is known, and when it takes over. */
export const createSetFiles = (
  { chain, now, condition }: Pick<SimulatedNode, 'chain' | 'condition' | 'now'>,
  write: (path: string, text: string) => void,
) => {
  /** The epochs of the sets. */
  let written = ''
  return {
    keep: (): void => {
      const epochs = chain.epochsAt(chain.headAt(now()))
      const sets = epochs.map(({ epoch }) => epoch - condition().host.setsAge)
      if (sets.join() === written) return
      written = sets.join()
      const text = sets.map((epoch) => renderSet(epoch, chain.validators)).join('\n')
      write('config/validators/validators.toml', text)
      write('config/forkpoint/forkpoint.toml', epochs.map(renderStart).join('\n'))
    },
  }
}

const renderSet = (epoch: bigint, validators: readonly Validator[]): string =>
  [
    '[[validator_sets]]',
    `epoch = ${epoch}`,
    ...validators.flatMap(({ publicKey, stake }) => [
      '[[validator_sets.validators]]',
      `node_id = "0x${publicKey}"`,
      `stake = "0x${stake.toString(16)}"`,
      `cert_pubkey = "0x${digest(publicKey, 'bls')}${digest(publicKey, 'rest').slice(0, 32)}"`,
    ]),
    '',
  ].join('\n')

const renderStart = ({ epoch, startRound }: { readonly epoch: bigint; readonly startRound: bigint }): string =>
  `[[validator_sets]]\nepoch = ${epoch}\nround = ${startRound}\n`
