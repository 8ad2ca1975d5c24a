import { Command } from 'commander'
import { toJson } from '../../core/json.ts'
import { KEY_TYPES, type KeyType } from '../../core/key-paths.ts'
import { compareKeys } from '../../keys/identity.ts'
import { verify } from '../../keys/verify.ts'
import { configOptions, type ConfigOptions } from '../../cli/config-options.ts'
import type { ExitCode, Io } from '../../cli/io.ts'
import { createStyle } from '../../cli/terminal/style.ts'
import { atDesk, typeOption, warn } from './desk.ts'
import { isWell, type Judged, renderVerified } from './verify-page.ts'

interface Options extends ConfigOptions {
  readonly type?: readonly KeyType[]
  readonly filesOnly?: true
  readonly json?: true
}

export const verifyCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('verify'))
    .description('check that the backups are intact, private and of the keys that the node has')
    .addOption(typeOption(KEY_TYPES, 'which: secp, bls'))
    .option('--files-only', 'run no tool: the keystores stay closed, the status report is not read')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
The keystore tool of the node opens the keystore, and its secret is compared with the one in the backup;
neither is printed. The public key is compared with node.publicKey in the configuration and with the status
report of the node, so that the keystore and backup of another node fail. A source that is not set, not
installed or does not answer within 20 seconds is reported as "not compared".

Exit code 0 if all backups are intact, private and of the same keys as the keystores (with --files-only:
intact and private), or recorded as off this host; if a keystore can be made from each, no earlier backup is
readable by others, and no source reports another public key. Exit code 1 otherwise. Nothing is written.

Copies off this host are not checked: record them with chain-agent keys off-node.

Examples:
  sudo chain-agent keys verify
  sudo chain-agent keys verify --files-only --json`,
    )
    .action(async (options: Options) => {
      await atDesk({ io, exit, options }, async (desk, progress) => {
        const mayRecover = options.filesOnly !== true
        if (mayRecover) warn(io, desk, 'the keystore password')
        const known = await desk.readKnownKeys({ mayRun: mayRecover })
        const found: Judged[] = []
        for (const key of options.type ?? KEY_TYPES) {
          const one = await verify(desk.kit, { key, mayRecover }, io.signal)
          found.push({ ...one, identity: compareKeys(known[key], one.publicKey) })
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
