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
  help: `Compares chain, public key, version and forks with those that the agent of the
primary reports. Consensus on this host must not have the key of the primary,
and the backups, from which \`chain-agent keys restore\` makes the keystores, must
be intact and of that key. A takeover starts consensus: services, sync,
references, findings and blocksync are those of \`chain-agent restart-window\`.
Last are disk, clock, ports, receiver of alerts, and the agent of this host.

It writes, starts and stops nothing, and prints no secret. Only root can read
the backups; an encrypted one counts as missing. The public port of consensus is
not tested: a watcher does that (watched.port).`,
  load: async () => (await import('./action.ts')).checkStandby,
})
