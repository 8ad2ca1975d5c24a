import { ruleFile } from './rule.ts'

const UNLESS_UNNEEDED = `unless on (instance, job, cluster, key, kind) (
  chain_key_file_state{kind="backup"}
    and on (instance, job, cluster) (max_over_time(chain_node_role{role=~"full-node|rpc"}[6h]) == 1)
)`

const KEY_FILE_ADVICE = [
  'Write a new backup: `sudo chain-agent keys backup`, or record one that is kept elsewhere: `sudo chain-agent keys off-node`.',
  'Restore a keystore: `sudo chain-agent keys restore`. See docs/how-to/keys.md.',
]

export const keys = ruleFile({ name: 'keys', component: 'keys', for: '1h' }, [
  {
    comment:
      'The running node has its keys in memory: the file is read at the next start: a warning, not a page. A backup that is recorded as kept off the node is not missing. A node without stake needs no backups; during statesync its role is unknown, hence the window.',
    alert: 'ChainKeyFile.missing',
    advice: KEY_FILE_ADVICE,
    expr: `(chain_key_file_state{state="missing"} == 1)
${UNLESS_UNNEEDED}`,
    summary: 'the {{ $labels.kind }} of the key {{ $labels.key }} is missing',
    description:
      'The {{ $labels.kind }} of {{ $labels.key }} on {{ $labels.instance }} has been missing for an hour. Without its keystore the node does not start again; without a backup, the loss of the drive is the loss of the validator.',
  },
  {
    comment: 'Empty, truncated, or not the expected content. The age of a backup is not an error.',
    alert: 'ChainKeyFile.invalid',
    advice: KEY_FILE_ADVICE,
    expr: 'chain_key_file_state{state="invalid"} == 1',
    summary: 'the {{ $labels.kind }} of the key {{ $labels.key }} cannot be used',
    description:
      'The {{ $labels.kind }} of {{ $labels.key }} on {{ $labels.instance }} has been empty, truncated or not the expected content for an hour. Nothing can be restored from it.',
  },
  {
    alert: 'ChainKeyFile.exposed',
    component: 'security',
    advice: [
      'Restrict its permissions: `chmod 600 FILE`.',
      'If other users could read it, treat the key as compromised.',
    ],
    expr: 'chain_key_file_state{state="exposed"} == 1',
    summary: 'the {{ $labels.kind }} of the key {{ $labels.key }} can be read by other users',
    description:
      'The {{ $labels.kind }} of {{ $labels.key }} on {{ $labels.instance }}, or a rotated copy of it, has been accessible to users other than root and the node for an hour. A user with the key and its password can sign as this validator.',
  },
  {
    comment: 'Three keystores and three backups. If no file at all can be checked, the collector is down.',
    alert: 'ChainBlind.key-files',
    limit: 6,
    pending: 'nothing',
    advice: [
      'See which files cannot be checked: `chain-agent status keys`.',
      'Enable the timer of the key report: `sudo systemctl enable --now chain-agent-keys.timer` (docs/how-to/host.md).',
    ],
    expr: (limit) => `count by (instance, job, cluster) (chain_key_file_state{state="ok"}) < ${limit}`,
    summary: 'the agent cannot check all key files of the node',
    description: (limit) =>
      `The agent on {{ $labels.instance }} can check only {{ $value }} of the ${limit} key files. It is unknown whether the others exist, are intact and are readable only by their owner.`,
  },
])
