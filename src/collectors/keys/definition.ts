import { z } from 'zod'
import { file, POLL, timing } from '../../config/values.ts'
import { gauge } from '../../core/metric.ts'

/** The secrets of a node; `password` is the one of the keystores. */
export const KEYS = ['secp', 'bls', 'password'] as const
export const KEY_KINDS = ['keystore', 'backup'] as const
export const KEY_STATES = ['ok', 'missing', 'invalid', 'exposed', 'unverified'] as const

export const definition = {
  name: 'keys',
  help: "the node's keystores and their backups: there, whole, private",
  introduction:
    'Keystores, their backups and their password, by what the file system says of them. Content is checked where this user may read it, and kept nowhere; `unverified` is a file that is there, and private, and whose content this user may not read.',
  settings: z
    .strictObject({
      ...timing('1m', '10s', POLL),
      reportFile: file('read the states from this file, which a privileged unit writes (deploy/)')
        .nullable()
        .default(null),
    })
    .prefault({}),
  metrics: {
    chain_key_file_state: gauge('State of a secret file as a state set; exactly one is 1.', {
      key: KEYS,
      kind: KEY_KINDS,
      state: KEY_STATES,
    }),
    chain_key_backup_timestamp_seconds: gauge('When the backup was last written.', { key: KEYS }),
    chain_key_backup_copies: gauge('Rotated copies that lie beside the backup.', { key: KEYS }),
  },
} as const
