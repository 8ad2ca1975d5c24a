import { defineConfigured } from '../../terminal/configured-command.ts'
import { defineCommand } from '../../terminal/define-command.ts'

/** `chain-agent standby`: the second host of a validator. */
export const standbyCommand = defineCommand({
  help: `For the second host of a validator: a full node in sync, with keys of its own
and with backups of the validator's keys. docs/how-to/standby.md has the drill.

Exit codes: 0 ready, 1 not ready, 2 unknown, such as without an answer of the
primary, or a usage error.

Examples:
  sudo chain-agent standby check --primary http://192.0.2.10:9843
  sudo chain-agent standby check --primary /etc/chain-agent/primary-url --json`,
  subcommands: () => ({ check: checkCommand }),
})

const checkCommand = defineConfigured({
  summary: 'check whether this host could take over from the primary now; switches nothing',
  needsNode: true,
  json: 'as JSON',
  options: (command) =>
    command
      .option('--primary <url>', "address of the primary's agent; with a password, the path of a file with it")
      .option('--from <directory>', "the backups of the validator's keys (default: node.backupDirectory)"),
  help: `Compares this host with what the agent of the primary reports, and its backups
with the key of the primary: docs/how-to/standby.md has each check. It writes,
starts and stops nothing, and prints no secret. Only root can read the backups;
an encrypted one counts as missing.`,
  load: async () => (await import('./action.ts')).checkStandby,
})
