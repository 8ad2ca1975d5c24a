import {
  appendFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { digest, type Validator } from '../chain.ts'
import type { SimulatedNode } from '../subject.ts'
import { numberAt } from '../scenario/directives.ts'

const MEGABYTE = 1024 * 1024
const DAY_MS = 86_400_000
const RENEWED_EVERY_MS = 5000
const FULL_FILES = 24
const BLOCK = Buffer.alloc(MEGABYTE, 'wal ')

/**
 * The files of the node: configuration, ledger, write-ahead log. Written synchronously: handing a small file to the thread
 * pool costs more CPU time than writing it.
 */
export const createNodeFiles = (node: SimulatedNode, directory: string) => {
  const at = (...names: readonly string[]): string => join(directory, ...names)
  const { beginMs } = node.timeline
  const sets = createSetFiles(node, (path, text) => {
    writeAtomically(directory, path, text)
  })

  const begin = (): void => {
    for (const name of ['config/forkpoint', 'config/validators', 'ledger', 'wal']) {
      mkdirSync(at(name), { recursive: true })
    }
    writeFileSync(at('config/node.toml'), `node_name = "${node.prefix}-simulated"\nstatesync_threshold = 600\n`)
    sets.keep()
    writeFileSync(at('wal', 'wal.0'), '')
    date('config/node.toml', beginMs - 20 * DAY_MS)
    date('config/validators/validators.toml', beginMs - DAY_MS / 12)
  }

  const date = (name: string, ms: number): void => {
    utimesSync(at(name), ms / 1000, ms / 1000)
  }

  let ledgerFiles = 0
  const keepLedger = (): void => {
    const wanted = Math.round(numberAt(node.condition().host.ledgerFiles, node.now()))
    for (; ledgerFiles < wanted; ledgerFiles += 1) {
      // A full ledger is a matter of files: only the first have content.
      writeFileSync(at('ledger', `${ledgerFiles}.body`), BLOCK.subarray(0, ledgerFiles < FULL_FILES ? 16 * 1024 : 0))
    }
    for (; ledgerFiles > wanted; ledgerFiles -= 1) rmSync(at('ledger', `${ledgerFiles - 1}.body`), { force: true })
  }

  /** The bytes are really written: free space of a file system cannot be simulated. */
  const keepWal = (): void => {
    const { hasWal, walMegabytes } = node.condition().host
    const [shown, hidden] = [at('wal'), at('wal.unmounted')]
    const isShown = existsSync(shown)
    if (isShown !== hasWal) renameSync(...(isShown ? move(shown, hidden) : move(hidden, shown)))
    if (!hasWal) return
    const file = at('wal', 'wal.0')
    const wanted = Math.round(numberAt(walMegabytes, node.now()) * 4) * (MEGABYTE / 4)
    const { size } = statSync(file)
    if (size > wanted) truncateSync(file, wanted)
    for (let left = wanted - size; left > 0; left -= BLOCK.length) {
      appendFileSync(file, BLOCK.subarray(0, Math.min(left, BLOCK.length)))
    }
  }

  const keep = (): void => {
    const { forkpointMs } = node.condition().host
    const renewedMs = Math.floor(node.now() / RENEWED_EVERY_MS) * RENEWED_EVERY_MS
    sets.keep()
    date('config/forkpoint/forkpoint.toml', forkpointMs ?? renewedMs)
    keepLedger()
    keepWal()
  }

  return {
    begin,
    keep,
    /** The next simulation in the same directory starts without an unmounted log. */
    clear: (): void => {
      rmSync(at('wal.unmounted'), { recursive: true, force: true })
    },
  }
}

const move = (from: string, to: string): readonly [string, string] => [from, to]

/** Atomic: a reader never sees a part of the file. */
export const writeAtomically = (root: string, path: string, text: string): void => {
  const draft = join(root, 'draft')
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(draft, text)
  renameSync(draft, join(root, path))
}

/** The files with the sets of validators: written again when the set of the next epoch is known, and when it takes over. */
const createSetFiles = (
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
