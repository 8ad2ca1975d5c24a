import { type RecordingRow, type RuleFile, ruleFile } from './rule.ts'

/** The age of the newest block of an event of the ledger stream, or with a tag of the RPC. */
const ageOf = (event: string, tag: string): string => `min by (instance, job, cluster) (
    timestamp(chain_ledger_block_timestamp_seconds{event="${event}"})
      - chain_ledger_block_timestamp_seconds{event="${event}"}
  or
    timestamp(chain_rpc_block_timestamp_seconds{tag="${tag}"})
      - chain_rpc_block_timestamp_seconds{tag="${tag}"}
)`

const RECORDINGS: readonly RecordingRow[] = [
  {
    comment:
      'A statesync with a target, by either source; 0 if the sources report none, absent if no source reports. A start is not one.',
    record: 'instance:chain_statesync:active',
    expr: `max by (instance, job, cluster) (
  {__name__=~"chain_native_statesync_active|chain_consensus_statesync_active"}
)`,
  },
  {
    comment:
      'Consensus was started and is not live yet, and there is no statesync: by its metrics, or else by its log, which may lack the line that ends it.',
    record: 'instance:chain_start:active',
    expr: `(
  max by (instance, job, cluster) (chain_native_start_active)
  or on (instance, job, cluster) max by (instance, job, cluster) (chain_consensus_start_active)
)
unless on (instance, job, cluster) (instance:chain_statesync:active == 1)`,
  },
  {
    comment:
      'While this is 1 no block is expected: a statesync, or the first three minutes of a start. Consensus requests the blocks of the root that its ledger lacks from one peer after the other, each for 0.7 s, and has its sessions within two minutes. After that ChainStartStalled fires.',
    record: 'instance:chain_sync:expected',
    expr: `instance:chain_statesync:active == 1
or on (instance, job, cluster)
  instance:chain_start:active == 1
    and on (instance, job, cluster) (time() - chain_service_start_timestamp_seconds{service="bft"} < 180)`,
  },
  {
    comment:
      "Age of the newest block by its own timestamp: the ledger stream may have stopped, or the RPC may be down. At the time of the scrape: the time since then is not the node's fault, and would make 1 s into 10 s at an interval of 15 s.",
    record: 'instance:chain_block_age:seconds',
    expr: ageOf('proposed', 'latest'),
  },
  {
    comment: 'Age of the newest finalized block by its own timestamp, by the source that has the newer one, as above.',
    record: 'instance:chain_finalized_age:seconds',
    expr: ageOf('finalized', 'finalized'),
  },
  {
    comment:
      '1 for each service that should run and does not; a unit that systemd does not know is another row of ChainServiceDown. The consequences (no block, no RPC) are left to ChainServiceDown, so that one failure is one page.',
    record: 'instance_service:chain_service:down',
    expr: `chain_service_expected == 1
  and on (instance, job, cluster, service) (chain_service_active == 0)
  unless on (instance, job, cluster, service) (chain_service_state{state="not-found"} == 1)`,
  },
  {
    comment:
      'The state of each node by what its agent reports, for the dashboards, which add the states of `up`: 1 follows the chain, 2 maintenance, 3 statesync, 5 behind, 6 stalled, 7 a service is down. The first condition that holds counts: maintenance comes before its consequences, and causes before theirs. Maintenance outlives the agent, as in ChainMaintenance. The ages are the default limits of ChainBlockStalled and ChainBehind.',
    record: 'instance:chain_node:state',
    expr: `2 * (max by (instance, job, cluster) (last_over_time(chain_agent_maintenance[30m])) == 1)
or on (instance, job, cluster)
  7 + (min by (instance, job, cluster) (chain_service_active{service=~"bft|execution"}) == 0)
or on (instance, job, cluster)
  3 * (instance:chain_statesync:active == 1)
or on (instance, job, cluster)
  6 + 0 * (instance:chain_block_age:seconds > 30)
or on (instance, job, cluster)
  5 + 0 * (instance:chain_behind:seconds > 5)
or on (instance, job, cluster)
  1 + 0 * instance:chain_block_age:seconds`,
  },
]

/** What rules of several files use. */
export const recording: RuleFile = { name: 'recording', groups: [{ name: 'chain-recording', rules: RECORDINGS }] }

/** Windows, and the step and number of the samples that half of one has. */
const WINDOWS = [
  ['1h', '5m'],
  ['6h', '30m'],
  ['1d', '2h'],
  ['3d', '6h'],
] as const

export const availability = ruleFile({ name: 'availability', component: 'consensus' }, [
  { record: 'instance:chain_available:bool', expr: 'instance:chain_block_age:seconds <= bool 30' },
  {
    comment:
      'If less than half of a window is known, its share is meaningless and the series is absent. This excludes a new series, or one with a long gap. Checked by a subquery, so that it does not depend on the evaluation interval.',
    record: 'instance:chain_available:avg5m',
    expr: 'avg_over_time(instance:chain_available:bool[5m])',
  },
  { record: 'instance:chain_available:avg30m', expr: 'avg_over_time(instance:chain_available:bool[30m])' },
  ...WINDOWS.map(([window, step]) => ({
    record: `instance:chain_available:avg${window}`,
    expr: `avg_over_time(instance:chain_available:bool[${window}])
and on (instance, job, cluster)
  (count_over_time(instance:chain_available:bool[${window}:${step}]) > 6)`,
  })),
])
