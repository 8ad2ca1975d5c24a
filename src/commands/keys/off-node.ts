import { Command, InvalidArgumentError } from 'commander'
import { SourceError } from '../../core/errors.ts'
import { KEY_TYPES, type KeyType } from '../../core/key-paths.ts'
import { noteOffNode } from '../../keys/off-node.ts'
import { verify } from '../../keys/verify.ts'
import { configOptions, type ConfigOptions } from '../../cli/config-options.ts'
import type { ExitCode, Io } from '../../cli/io.ts'
import { atDesk, typeOption } from './desk.ts'

interface Options extends ConfigOptions {
  readonly type?: readonly KeyType[]
}

export const offNodeCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('off-node'))
    .description('note that a copy of the backups lies off this host, and where')
    .argument('<where>', 'in your own words; no secret', readWhere)
    .addOption(typeOption(KEY_TYPES, 'of which: secp, bls'))
    .addHelpText(
      'after',
      `
keys verify tells it then, for as long as the node has this key. It is your word: nothing is looked up.
The note lies beside the backups, in off-node.json.

Examples:
  sudo chain-agent keys off-node 'safe in the office, 2 sticks'
  sudo chain-agent keys off-node 'vault of the team' --type bls`,
    )
    .action(async (where: string, options: Options) => {
      await atDesk({ io, exit, options }, async ({ kit }) => {
        const at = new Date(kit.now()).toISOString()
        const copies = []
        for (const key of options.type ?? KEY_TYPES) {
          const { publicKey, problem } = await verify(kit, { key, mayRecover: false }, io.signal)
          if (publicKey === null) throw unknownKey(key, problem)
          copies.push({ key, publicKey, where, at })
        }
        await noteOffNode(kit, copies)
        io.stdout.write(`Noted for ${copies.map(({ key }) => key).join(' and ')}: ${where}\n`)
        exit(0)
      })
    })

const unknownKey = (key: KeyType, problem: string | null): SourceError =>
  new SourceError({
    doing: `note where the ${key} key lies`,
    happened: problem ?? 'its backup here does not tell the public key',
    advice:
      'note it while the backup is still here: `chain-agent keys backup` makes one that tells it',
  })

const LONGEST = 200

const readWhere = (text: string): string => {
  const where = text.trim()
  if (where !== '' && where.length <= LONGEST) return where
  throw new InvalidArgumentError(`expected a place in up to ${LONGEST} signs`)
}
