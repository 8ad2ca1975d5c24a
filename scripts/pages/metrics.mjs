// docs/reference/metrics.md: every metric, by collector.
import { withSource } from '../compare-source/node-source.mjs'
import { ALL_NODE_METRICS } from '../../.cache/modules/src/collectors/native/node-metrics.js'
import { chapters } from '../../.cache/modules/src/metrics.js'

/** Where to start: a question, and the metrics that answer it. */
const QUESTIONS = [
  ['Does the node answer, and at which height is it?', '`chain_rpc_up`, `chain_rpc_block_number`'],
  ['Is it behind the other nodes?', '`chain_block_difference`'],
  ['How old is its newest block?', '`chain_rpc_block_timestamp_seconds`, `chain_ledger_block_timestamp_seconds`'],
  ['Do all expected services run?', '`chain_service_expected`, `chain_service_active`'],
  ['What crashed, and how?', '`chain_service_exits_total`, `chain_service_last_exit_status`'],
  ['Was consensus restarted without execution?', '`chain_service_partial_restart`'],
  [
    'How full is the database, and how far back does it reach?',
    '`chain_storage_used_ratio`, `chain_storage_history_earliest_block`',
  ],
  ["What does the node's own status report contain?", '`chain_status_in_sync`, `chain_status_peers`'],
  ['Are blocks being committed, and if not, why?', '`chain_consensus_committing`, `chain_consensus_finding`'],
  ['Does the node propose, and does it miss turns?', '`chain_ledger_blocks_total`, `chain_ledger_timeouts_total`'],
  ['How fast is finality?', '`chain_ledger_finality_seconds`'],
  [
    'Are keys and their backups present, intact and protected?',
    '`chain_key_file_state`, `chain_key_backup_timestamp_seconds`',
  ],
  [
    'How long can peers still serve the node by blocksync?',
    '`chain_blocksync_window_remaining_blocks`, `chain_statesync_eta_seconds`',
  ],
  ['Is execution getting slow?', '`chain_execution_block_duration_seconds`'],
  ['Which errors are in the logs?', '`chain_log_pattern_total` (`chain-agent check` explains each)'],
  ['Is the node ready for the next fork? Is a restart due?', '`chain_fork_ready`, `chain_version_mismatch`'],
  ['Is it isolated, or out of the active set?', '`chain_native_sessions`, `chain_native_stake_ratio`'],
  [
    "Does the host meet the node's requirements?",
    '`chain_host_kernel_blocked`, `chain_host_clock_offset_seconds`, `chain_host_port_exposed`',
  ],
  ['Does it lead as often as expected from its stake?', '`chain_duty_slots`, `chain_duty_expected_slots`'],
  ['Does the agent itself get its data?', '`chain_agent_collector_up`, `chain_agent_lines_total`'],
]

/** Where the node sets or counts what the collector reads. */
const sourceOf = ({ sources, note }) => {
  const causes = [...new Set(sources.map(({ cause }) => cause))].join(', ')
  const places = sources.map(({ file, function: name }) => `\`${name}\` in \`${file}\``).join('; ')
  return `${places} | ${causes} | ${note ?? ''}`
}

const NODE_SOURCES = [
  '',
  'The metrics of the node that the collector reads, without the name prefix, and where its source sets or counts them. *own*: caused by',
  'the state of this node; *received*: messages of other nodes alone can cause it.',
  '',
  '| metric of the node, and of the agent | source | cause | note |',
  '|---|---|---|---|',
  ...ALL_NODE_METRICS.map((metric) => {
    const labels = Object.entries(metric.labels ?? {}).map(([label, value]) => `${label}="${value}"`)
    const exported = `\`${metric.exports}${labels.length === 0 ? '' : `{${labels.join(',')}}`}\``
    return `| \`${metric.name}\` → ${exported} | ${sourceOf(withSource('metrics', metric.name))} |`
  }),
]

export const renderMetricsPage = () =>
  `${[
    '# Metrics',
    '',
    'Generated from `src/collectors/*/definition.ts` by `npm run generate`.',
    '',
    'An unknown value is absent: when a source fails, its series are removed once the last reading is older than two',
    'intervals plus the timeout, and `chain_agent_collector_up` becomes 0. Counters kept by the agent itself (marked',
    '*agent*) and histograms stay. Units are base units.',
    '',
    ...QUESTIONS.map(([question, answer]) => `- ${question} ${answer}`),
    '',
    `Chapters: ${Object.keys(chapters)
      .map((name) => `[${name}](#${name.toLowerCase()})`)
      .join(' · ')}`,
    ...Object.entries(chapters).flatMap(([name, { introduction, metrics }]) => [
      '',
      `## ${name}`,
      '',
      introduction,
      '',
      '| metric | type | labels | meaning |',
      '|---|---|---|---|',
      ...Object.entries(metrics).map(([metric, definition]) => row(metric, definition)),
      ...(name === 'native' ? NODE_SOURCES : []),
    ]),
  ].join('\n')}\n`

const row = (name, { type, help, labels, buckets }) => {
  const kind = {
    gauge: 'gauge',
    histogram: 'histogram',
    counter: 'counter, *agent*',
    'external counter': 'counter',
  }[type]
  const names = Object.entries(labels ?? {}).map(([label, values]) =>
    typeof values === 'string' ? label : `${label}: ${values.join(', ')}`,
  )
  const bounds = buckets?.length > 0 ? `Buckets: ${buckets.join(', ')}.` : 'Sum and count, without buckets.'
  const more = buckets ? ` ${bounds}` : ''
  return `| \`${name}\` | ${kind} | ${names.join('; ')} | ${help}${more} |`
}
