import { type Row } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { table } from '../panels/table.ts'
import { type TextLabels } from '../value-labels.ts'

const STATES: TextLabels = { missing: 'warning', invalid: 'critical', exposed: 'critical', unverified: 'unknown' }

export const security: Row = {
  title: 'Keys, files, timers',
  collapsed: true,
  panels: [
    table({
      title: 'Key files',
      about:
        'State of each keystore, its password and their backups. missing or invalid: it cannot be restored from; exposed: other users can read it and sign; unverified: it exists, and the agent may not read it; off_node: a backup that is recorded as kept elsewhere. Age is no fault.',
      alerts: ['ChainKeyFile.missing', 'ChainKeyFile.invalid', 'ChainKeyFile.exposed'],
      width: 12,
      height: 8,
      keys: { key: 'Key', kind: 'File', state: 'State' },
      texts: { state: STATES },
      onlyLabels: true,
      columns: [
        { title: 'Is', expr: 'max by (key, kind, state) (chain_key_file_state == 1)', unit: 'none' },
      ],
    }),
    table({
      title: 'Backups of keys',
      about: 'When each backup was last written, and the number of older copies next to it.',
      alerts: ['ChainKeyFile.missing', 'ChainBlind'],
      width: 12,
      height: 8,
      keys: { key: 'Key' },
      columns: [
        { title: 'Written', expr: '1000 * max by (key) (chain_key_backup_timestamp_seconds)', unit: 'dateTimeFromNow' },
        { title: 'Copies', expr: 'max by (key) (chain_key_backup_copies)', unit: 'locale' },
      ],
    }),
    table({
      title: 'Timers',
      about:
        'When each timer was last triggered and when it is triggered next. The clean-up is due every hour; without it the file system fills up.',
      alerts: ['ChainCleanup'],
      width: 12,
      height: 6,
      keys: { timer: 'Timer' },
      columns: [
        {
          title: 'Triggered, ago',
          expr: 'time() - max by (timer) (chain_timer_last_trigger_timestamp_seconds)',
          unit: 's',
          limits: limitsBy('ChainCleanup', 'chain_timer_last_trigger_timestamp_seconds'),
        },
        { title: 'Next in', expr: 'max by (timer) (chain_timer_next_trigger_timestamp_seconds) - time()', unit: 's' },
      ],
    }),
    table({
      title: 'Files of the configuration',
      about:
        'When each was last written. The forkpoint is written every few blocks: a restart begins at the block of the last one.',
      alerts: ['ChainStartFiles.forkpoint', 'ChainStartFiles.validators', 'ChainStartFiles.node-config'],
      width: 12,
      height: 6,
      keys: { file: 'File' },
      columns: [
        {
          title: 'Written, ago',
          expr: 'time() - max by (file) (chain_host_file_modified_timestamp_seconds)',
          unit: 's',
        },
      ],
    }),
  ],
}
