import { Command } from 'commander'
import type { ExitCode, Io } from '../../cli/io.ts'
import { backupCommand, exportCommand } from './backup.ts'
import { offNodeCommand, verifyCommand } from './verify.ts'
import { restoreCommand } from './restore.ts'

/** `chain-agent keys`: protects the node's identity against loss and theft. */
export const keysCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  new Command('keys')
    .addCommand(backupCommand(io, exit))
    .addCommand(verifyCommand(io, exit))
    .addCommand(exportCommand(io, exit))
    .addCommand(offNodeCommand(io, exit))
    .addCommand(restoreCommand(io, exit))
    .addHelpText(
      'after',
      `
A backup contains the private key: everyone who has it can take over the node. Without a backup a validator
cannot be moved to another host, and all delegations must be moved by hand. docs/keys.md describes what to
store where.

Protects against: backups that are empty or truncated; a crash or a full disk during a write; an intact
backup overwritten by a damaged one; a restored keystore that cannot be opened; files that other users can
read; keys in logs, errors, metrics, core dumps and in the environment of other programs.

Does not protect against: root on this host, which can read everything; a backup that is read before it is
moved off the host; memory that is swapped to disk; the process list, where the keystore tool of the node
shows the password, and in a restore the secret, for about a second (mount /proc with hidepid=2); an auditd
that records the arguments of programs.

Examples:
  sudo chain-agent keys backup
  sudo chain-agent keys verify
  sudo chain-agent keys export --recipient age1YOUR-RECIPIENT
  sudo chain-agent keys restore --dry-run`,
    )
