import { file, polling, timed } from '../../core/settings.ts'
import { gauge } from '../../core/metric.ts'
import { each, listOf, objectOf, orNull } from '../shared/reading-schema.ts'

/** The secrets of a node; `password` is the one of the keystores. */
export const KEYS = ['secp', 'bls', 'password'] as const
export const KEY_KINDS = ['keystore', 'backup'] as const
export const KEY_STATES = ['ok', 'missing', 'invalid', 'exposed', 'unverified', 'off_node'] as const

export const definition = {
  name: 'keys',
  help: "the node's keystores and their backups: present, intact, readable only by their owner",
  introduction:
    'Keystores, their backups and their password, from the metadata of the files. The content is checked if the agent may read it, and is not stored; `unverified` is a file that exists and is readable only by its owner, so that the agent cannot check the content. `off_node` is a backup that is not on this host and that `chain-agent keys off-node` has recorded since the keystore was written; that of the password if both keys are recorded.',
  settings: timed('1m', '10s', {
    ...polling('1m'),
    reportFile: file('read the states from this file, written by chain-agent-keys.timer').nullable().default(null),
  }),
  reading: listOf(
    objectOf({
      ...each(orNull.text, 'key', 'kind', 'state', 'why'),
      writtenAt: orNull.time,
      copies: orNull.number,
    }),
  ),
  metrics: {
    chain_key_file_state: gauge('State of a secret file as a state set; exactly one is 1.', {
      key: KEYS,
      kind: KEY_KINDS,
      state: KEY_STATES,
    }),
    chain_key_backup_timestamp_seconds: gauge('Modification time of the backup of the key.', { key: KEYS }),
    chain_key_backup_copies: gauge('Number of rotated copies next to the backup of the key.', { key: KEYS }),
  },
} as const
