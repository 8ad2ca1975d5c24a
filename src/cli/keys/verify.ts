import { Command } from 'commander'
import { toJson } from '../../core/json.ts'
import { KEY_TYPES, type KeyType } from '../../core/key-places.ts'
import { type Verified, verify } from '../../keys/verify.ts'
import { configOptions, type ConfigOptions } from '../config-options.ts'
import type { ExitCode, Io } from '../io.ts'
import { createStyle } from '../page/style.ts'
import { atDesk, typeOption, warn } from './desk.ts'
import { isWell, renderVerified } from './verify-page.ts'

interface Options extends ConfigOptions {
  readonly type?: readonly KeyType[]
  readonly filesOnly?: true
  readonly json?: true
}

export const verifyCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('verify'))
    .description('whether the backups are whole, private and of the keys that the node has')
    .addOption(typeOption(KEY_TYPES, 'which: secp, bls'))
    .option('--files-only', 'without opening the keystores: the password is shown to nobody')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
The keystore is opened by the node's own tool, and its secret compared with the one in the backup; neither
is shown. Exit code 0 where all backups are whole, private and of the same keys (with --files-only: whole
and private), or not here and noted off this host; where a keystore can be made of them, and no earlier
backup is readable for others. 1 where that is not so, or cannot be told. Nothing is written.

It does not see whether a copy lies off this host: say so with chain-agent keys off-node.

Examples:
  sudo chain-agent keys verify
  sudo chain-agent keys verify --files-only --json`,
    )
    .action(async (options: Options) => {
      await atDesk({ io, exit, options }, async (desk, progress) => {
        const mayRecover = options.filesOnly !== true
        if (mayRecover) warn(io, desk, 'the keystore password')
        const found: Verified[] = []
        for (const key of options.type ?? KEY_TYPES) {
          found.push(await verify(desk.kit, { key, mayRecover }, io.signal))
        }
        progress.end()
        const judged = found.map((one) => ({ isWell: isWell(one, mayRecover), ...one }))
        const style = createStyle(io)
        io.stdout.write(
          options.json
            ? `${JSON.stringify(toJson(judged), undefined, 2)}\n`
            : found.map((one) => renderVerified(one, { style, mayRecover })).join(''),
        )
        exit(judged.every((one) => one.isWell) ? 0 : 1)
      })
    })
