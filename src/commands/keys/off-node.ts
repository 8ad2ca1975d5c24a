import { SourceError } from '../../core/errors.ts'
import { KEY_TYPES, type KeyType } from '../../domain/key-paths.ts'
import { noteOffNode, verify } from '../../keys/verify.ts'
import { type ConfigOptions } from '../../terminal/config-options.ts'
import { runKeyCommand } from './key-command.ts'
import { type ActionContext } from '../../terminal/io.ts'

interface OffNodeOptions extends ConfigOptions {
  readonly where: string
  readonly type?: readonly KeyType[]
}

export const recordOffNode = async ({ io, exit, options }: ActionContext<OffNodeOptions>): Promise<void> => {
  const { where } = options
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
}

const unknownKey = (key: KeyType, problem: string | null): SourceError =>
  new SourceError({
    doing: `record the location of the ${key} key`,
    happened: problem ?? 'its backup on this host does not contain the public key',
    advice:
      'record it while the backup is still on this host: `chain-agent keys backup` writes one with the public key',
  })
