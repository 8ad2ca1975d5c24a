import { Command, InvalidArgumentError } from 'commander'
import { SourceError } from '../../core/errors.ts'
import { KEY_TYPES, type KeyType } from '../../core/key-paths.ts'
import { noteOffNode } from '../../keys/off-node.ts'
import { verify } from '../../keys/verify.ts'
import { configOptions, type ConfigOptions } from '../../cli/config-options.ts'
import type { ExitCode, Io } from '../../cli/io.ts'
import { runKeyCommand, typeOption } from './key-command.ts'

interface Options extends ConfigOptions {
  readonly type?: readonly KeyType[]
}

export const offNodeCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('off-node'))
    .description('record that a copy of the backups exists off this host, and where')
    .argument('<where>', 'free text; no secrets', readWhere)
    .addOption(typeOption(KEY_TYPES, 'which: secp, bls'))
    .addHelpText(
      'after',
      `
keys verify reports the copy as long as the node has this key. Nothing checks that the copy exists. The note is
stored next to the backups, in off-node.json.

Examples:
  sudo chain-agent keys off-node 'safe in the office, 2 sticks'
  sudo chain-agent keys off-node 'vault of the team' --type bls`,
    )
    .action(async (where: string, options: Options) => {
      await runKeyCommand({ io, exit, options }, async ({ context }) => {
        const at = new Date(context.now()).toISOString()
        const copies = []
        for (const key of options.type ?? KEY_TYPES) {
          const { publicKey, problem } = await verify(context, { key, mayRecover: false }, io.signal)
          if (publicKey === null) throw unknownKey(key, problem)
          copies.push({ key, publicKey, where, at })
        }
        await noteOffNode(context, copies)
        io.stdout.write(`Recorded for ${copies.map(({ key }) => key).join(' and ')}: ${where}\n`)
        exit(0)
      })
    })

const unknownKey = (key: KeyType, problem: string | null): SourceError =>
  new SourceError({
    doing: `record the location of the ${key} key`,
    happened: problem ?? 'its backup on this host does not contain the public key',
    advice:
      'record it while the backup is still on this host: `chain-agent keys backup` writes one with the public key',
  })

const MAX_LENGTH = 200

const readWhere = (text: string): string => {
  const where = text.trim()
  if (where !== '' && where.length <= MAX_LENGTH) return where
  throw new InvalidArgumentError(`expected a place of 1 to ${MAX_LENGTH} characters`)
}
