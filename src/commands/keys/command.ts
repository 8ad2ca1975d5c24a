import { InvalidArgumentError, Option } from 'commander'
import { KEY_TYPES } from '../../domain/key-paths.ts'
import { defineConfigured } from '../../terminal/configured-command.ts'
import { defineCommand } from '../../terminal/define-command.ts'
import { NO_VALUES, repeatable } from '../../terminal/option-values.ts'

/** `chain-agent keys`: protects the node's identity against loss and theft. */
export const keysCommand = defineCommand({
  help: `A backup contains the private key: everyone who has it can take over the node.
Without a backup a validator cannot be moved to another host, and all
delegations must be moved by hand. docs/how-to/keys.md describes what to store
where, and SECURITY.md against what this protects. It does not protect against
root on this host, a backup that is read before it is moved off the host, and
the process list, where the keystore tool of the node shows the password, and in
a restore the secret, for about a second (mount /proc with hidepid=2).

Exit codes: 0 done, 1 a key or a backup has a problem, 2 usage error. \`verify\`
lists what it checks.

Examples:
  sudo chain-agent keys backup
  sudo chain-agent keys verify
  sudo chain-agent keys export --recipient age1YOUR-RECIPIENT
  sudo chain-agent keys restore --dry-run`,
  subcommands: () => ({
    backup: backupCommand,
    verify: verifyCommand,
    export: exportCommand,
    'off-node': offNodeCommand,
    restore: restoreCommand,
  }),
})

const backupCommand = defineConfigured({
  summary: 'write backups of the keys; earlier backups are kept as .bak',
  json: 'as JSON',
  options: (command) => command.addOption(typeOption([...KEY_TYPES, 'password'], 'which: secp, bls, password')),
  help: `The keystore tool of the node recovers each key from its keystore. The earlier
backup is kept with its time in UTC, as in secp-backup.20260301121000.bak. If
the command is interrupted, an intact backup remains: the old or the new one.

A backup on the node is not protected: everyone who can read the file has the
key. Move a copy off the node (chain-agent keys export), and fix the mode of
files that others can read.

Examples:
  sudo chain-agent keys backup
  sudo chain-agent keys backup --type password
  sudo chain-agent keys backup --set node.backupDirectory=/root/chain-backup`,
  load: async () => (await import('./backups.ts')).backup,
})

const verifyCommand = defineConfigured({
  summary: 'check that the backups are intact, readable only by their owner, and of the keys of the node',
  json: 'as JSON',
  options: (command) =>
    command
      .addOption(typeOption(KEY_TYPES, 'which: secp, bls'))
      .option('--files-only', 'run no tool: do not open the keystores, do not read the status report'),
  help: `The keystore tool of the node opens the keystore, and its secret is compared
with the one in the backup; neither is printed. The public key is compared with
node.publicKey in the configuration and with the status report of the node. A
source that is not set, or does not answer, is reported as "not compared".

Exit code 0 if each backup is intact, readable only by its owner and of the same
key as the keystore, or recorded as off this host, and no source reports another
public key. Exit code 1 otherwise. Nothing is written.

Copies off this host are not checked: record them with chain-agent keys
off-node.

Examples:
  sudo chain-agent keys verify
  sudo chain-agent keys verify --files-only --json`,
  load: async () => (await import('./backups.ts')).verifyBackups,
})

const exportCommand = defineConfigured({
  summary: 'encrypt copies of the backups with age, for storage off this host',
  json: 'as JSON',
  options: (command) =>
    command
      .addOption(typeOption([...KEY_TYPES, 'password'], 'which: secp, bls, password'))
      .option(
        '-r, --recipient <age1...>',
        'the recipient; repeatable, and each of them can decrypt the file',
        repeatable(),
        NO_VALUES,
      )
      .option('-R, --recipients-file <file>', 'file with one recipient per line: age1...; # starts a comment')
      .option(
        '-o, --output-directory <directory>',
        'the directory for secp-backup.age, bls-backup.age, keystore-password-backup.age',
        '.',
      )
      .option('-a, --armor', 'write text (ASCII armor), for vaults that store text'),
  help: `age decrypts the files without this program: age -d -i KEYFILE secp-backup.age.
Create the key pair on the host of the vault, not on this host: age-keygen -o
KEYFILE prints the recipient. Without KEYFILE the file cannot be decrypted. If
the public key of a backup differs from node.publicKey or from the status report
of the node, nothing is exported. No file is overwritten.

The copies are still on this host after the export. Move one off the host, check
that you can decrypt it there, and record it: chain-agent keys off-node 'safe in
the office'.

Examples:
  sudo chain-agent keys export --recipient age1YOUR-RECIPIENT
  sudo chain-agent keys export --recipients-file team.txt --output-directory /mnt/stick
  chain-agent keys restore --from secp-backup.age --identity KEYFILE --type secp --dry-run`,
  load: async () => (await import('./backups.ts')).exportBackups,
})

const offNodeCommand = defineConfigured({
  summary: 'record that a copy of the backups exists off this host, and where',
  options: (command) =>
    command
      .argument('<where>', 'free text; no secrets', readWhere)
      .addOption(typeOption(KEY_TYPES, 'which: secp, bls')),
  help: `keys verify reports the copy as long as the node has this key. Nothing checks
that the copy exists. The note is stored next to the backups, in off-node.json.

Examples:
  sudo chain-agent keys off-node 'safe in the office, 2 sticks'
  sudo chain-agent keys off-node 'vault of the team' --type bls`,
  load: async () => (await import('./backups.ts')).recordOffNode,
})

const MAX_LENGTH = 200

const readWhere = (text: string): string => {
  const where = text.trim()
  if (where !== '' && where.length <= MAX_LENGTH) return where
  throw new InvalidArgumentError(`expected a place of 1 to ${MAX_LENGTH} characters`)
}

const restoreCommand = defineConfigured({
  summary: 'restore the keystores from their backups; earlier keystores are kept as .bak',
  json: 'as JSON',
  options: (command) =>
    command
      .addOption(typeOption(KEY_TYPES, 'which: secp, bls'))
      .option('--from <path>', 'directory with the backups, or one file; plain or encrypted with age')
      .option('--identity <file>', 'decrypts an encrypted backup: the file that age-keygen wrote')
      .option('-y, --yes', 'replace keystores without confirmation')
      .option('--dry-run', 'print what would be done, and change nothing')
      .option('--while-running', 'restore even if the consensus service is running')
      .option('--replace-identity', 'restore even if the status report of the node has another public key'),
  help: `Each old keystore is kept with its time in UTC, as in
id-secp.20260301121000.bak; docs/how-to/keys.md has each step.

Before anything is replaced, the public key is compared with node.publicKey in
the configuration and with the status report of the node. A mismatch ends the
command with exit code 1. On a new host whose status report still has a
temporary key, use --replace-identity. It does not override node.publicKey:
correct that first. If both sources are "not compared", compare the public key
that is printed with the one that your validator is registered with.

The consensus service must be stopped: otherwise it keeps signing with the key
in its memory, and two nodes that sign with the same key are penalized. For the
same reason, stop the old host permanently before you restore its keys on
another.

A backup of another node is detected only if one of the two sources has the
public key.

Examples:
  sudo chain-agent keys restore --dry-run
  sudo chain-agent keys restore
  sudo chain-agent keys restore --replace-identity
  sudo chain-agent keys restore --type secp --from /mnt/stick/secp-backup
  sudo chain-agent keys restore --from /mnt/stick --identity /mnt/stick/identity.txt`,
  load: async () => (await import('./restore.ts')).restore,
})

/** `--type`, one or more times; by default both keys. */
const typeOption = (choices: readonly string[], description: string): Option =>
  new Option('--type <type>', `${description}; repeatable`)
    .choices([...choices])
    .argParser((value: string, before: readonly string[] | undefined) => {
      if (choices.includes(value)) return [...new Set([...(before ?? []), value])]
      throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`)
    })
