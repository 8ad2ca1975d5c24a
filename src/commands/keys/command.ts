import { Command } from 'commander'
import type { ExitCode, Io } from '../../cli/io.ts'
import { backupCommand } from './backup.ts'
import { exportCommand } from './export.ts'
import { offNodeCommand } from './off-node.ts'
import { restoreCommand } from './restore.ts'
import { verifyCommand } from './verify.ts'

/** `chain-agent keys`: the node's identity, kept so that it is neither lost nor given away. */
export const keysCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  new Command('keys')
    .description("back up, check, restore and export the node's keys")
    .addCommand(backupCommand(io, exit))
    .addCommand(verifyCommand(io, exit))
    .addCommand(exportCommand(io, exit))
    .addCommand(offNodeCommand(io, exit))
    .addCommand(restoreCommand(io, exit))
    .addHelpText(
      'after',
      `
A backup holds the private key: who has it can take over the node. Without one a validator cannot be
moved, and all delegations must be moved by hand. docs/keys.md tells what to keep where.

What this protects against: a backup that is empty or cut, and looks like one; a crash or a full disk while
one is written; a good backup overwritten by a bad one; a restore that does not come up; files that others
may read; keys in logs, errors, metrics, core dumps and in the environment of other programs.

What it does not: root on this host, who can read all of it; a backup that is read before it is brought
off the host; memory that is swapped to disk; the process list, where the node's own tool shows the
password, and in a restore the secret, for about a second (mount /proc with hidepid=2); an auditd that
records the arguments of programs.

Examples:
  sudo chain-agent keys backup
  sudo chain-agent keys verify
  sudo chain-agent keys export --recipient age1YOUR-RECIPIENT
  sudo chain-agent keys restore --dry-run`,
    )
