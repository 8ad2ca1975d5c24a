import { TIMESTAMP_TOLERANCE_MS } from '../../domain/node-facts.ts'
import { hasIncreased, percent, period, NODE_DOWN, type RecordingRow, ruleFile, STALLED_ADVICE } from './rule.ts'

const BLIND = {
  alert: 'ChainBlind.host',
  for: '30m',
  pending: 'nothing',
  advice: [
    'See what the agent cannot read: `chain-agent status host`.',
    'Grant the permissions described in docs/how-to/host.md.',
  ],
  description:
    'The host reading {{ $labels.reading }} of {{ $labels.instance }} has been missing for 30 minutes, although the agent runs: alerts on it cannot fire.',
} as const

/** A recording for a missing reading of a host whose agent works. */
const unknownReading = (reading: string, series: string): RecordingRow => ({
  record: 'instance:chain_host_reading:unknown',
  labels: { reading },
  expr: `chain_agent_collector_up{collector="host"} == 1
  unless on (instance, job, cluster) ${series}`,
})

const MEMORY_ADVICE = [
  'See what uses the memory, and stop what does not belong to the node: `ps -eo rss,comm --sort=-rss | head`.',
]

const HEADER = {
  name: 'host',
  component: 'host',
  groupComment: 'Missing readings of a host whose agent works: one series for each missing reading.',
} as const

export const host = ruleFile(HEADER, [
  {
    comment:
      'An offset is missing as well if the clock is not synchronised; ChainClockDrift (`unsynchronised`) covers that.',
    record: 'instance:chain_host_reading:unknown',
    labels: { reading: 'clock' },
    expr: `chain_agent_collector_up{collector="host"} == 1
  unless on (instance, job, cluster) chain_host_clock_offset_seconds
  unless on (instance, job, cluster) (chain_host_clock_synchronized == 0)`,
  },
  unknownReading('kernel', 'chain_host_kernel_blocked{kernel="running"}'),
  unknownReading('ports', 'chain_host_port_exposed'),
  {
    comment: 'Only a running process has a limit.',
    record: 'instance:chain_host_reading:unknown',
    labels: { reading: 'limits' },
    expr: `chain_service_active{service="bft"} == 1
  unless on (instance, job, cluster, service) chain_service_max_file_descriptors`,
  },
  {
    comment: 'Of a directory of the node: the file systems of the host, whose label is a path, need no permission.',
    ...unknownReading('space', 'chain_host_filesystem_available_bytes{directory!~"/.*"}'),
  },
  unknownReading('forkpoint', 'chain_host_file_modified_timestamp_seconds{file="forkpoint"}'),
  {
    comment: 'Per drive: the kernel lists a drive whose health is in no report.',
    record: 'instance:chain_host_reading:unknown',
    labels: { reading: 'drive health' },
    expr: `chain_host_nvme_info
  unless on (instance, job, cluster, device) chain_host_nvme_critical_warning`,
  },
  {
    comment:
      'F17. Units are active long before the node advances. If no block is known at all, none is fresh: hence unless. One hour: in the known case it took 45 minutes to find the cause.',
    alert: 'ChainBlockStalled.rebooted',
    page: 'The services run and the node does not follow the chain: no other service restarts it.',
    limit: 3600,
    for: '5m',
    explainedBy: [NODE_DOWN, { alerts: ['ChainStartStalled'] }],
    advice: STALLED_ADVICE,
    expr: (limit) => `time() - chain_host_boot_timestamp_seconds < ${limit}
  unless on (instance, job, cluster) (instance:chain_block_age:seconds <= 30)
  unless on (instance, job, cluster) (instance:chain_statesync:active == 1)`,
    summary: 'the host has rebooted, and the node does not advance',
    description:
      '{{ $labels.instance }} was booted {{ $value | humanizeDuration }} ago, and for five minutes there has been no block younger than 30 seconds, and no statesync.',
  },
  {
    comment:
      'F8. A validator votes for a block only if its timestamp is within 800 ms of its own clock: 5 times the delta of 100 ms and the vote pace of 300 ms (monad-bft/monad-consensus-state/src/timestamp.rs, valid_bounds). The way of the proposal takes a part of that in one direction: 0.5 s leave 0.3 s for it. 0.2 s is a quarter, and far more than a synchronised clock is off.',
    alert: 'ChainClockDrift',
    limit: 0.2,
    for: '10m',
    critical: {
      limit: 0.5,
      for: '2m',
      page: 'Other nodes reject the proposals of a node whose clock is more than about 0.8 s off.',
    },
    advice: ['See the state of the time service: `chronyc tracking` or `timedatectl timesync-status`.'],
    expr: (limit) => `abs(chain_host_clock_offset_seconds) > ${limit}`,
    summary: 'the clock of the host is wrong',
    description: (limit) =>
      `The clock of {{ $labels.instance }} is {{ $value | humanizeDuration }} off its time service, more than ${Math.round(limit * 1000)} ms. Validators do not vote for a block whose timestamp differs from their clocks by more than ${TIMESTAMP_TOLERANCE_MS} ms.`,
  },
  {
    alert: 'ChainClockDrift.unsynchronised',
    for: '10m',
    advice: ['See the state of the time service: `chronyc tracking` or `timedatectl timesync-status`.'],
    expr: 'chain_host_clock_synchronized == 0',
    summary: 'the clock of the host is not synchronised',
    description:
      'The clock of {{ $labels.instance }} has not been synchronised by a time service for 10 minutes: it drifts, and the offset is unknown.',
  },
  {
    comment:
      'F27. A limit changes only with a restart: there is nothing to wait for, and no reason to page at night. With fewer than 4096 nodes have failed.',
    alert: 'ChainHostSetUp.open-file-limit',
    limit: 16384,
    advice: [
      'Set `LimitNOFILE=1048576` in a drop-in of the unit: `sudo systemctl edit UNIT`.',
      'Restart consensus, execution and RPC together at a convenient time.',
    ],
    expr: (limit) => `chain_service_max_file_descriptors{service=~"bft|execution|rpc"} < ${limit}`,
    summary: 'the open file limit of {{ $labels.service }} is too low',
    description: (limit) =>
      `The service {{ $labels.service }} of {{ $labels.instance }} may open {{ printf "%.0f" $value }} files; fewer than ${limit} are not enough.`,
  },
  {
    alert: 'ChainHostSetUp.open-files',
    limit: 0.8,
    for: '10m',
    advice: ['See what it has open: `sudo ls -l /proc/PID/fd`.', 'Raise `LimitNOFILE` in a drop-in of the unit.'],
    expr: (limit) => `chain_service_open_file_descriptors
  / on (instance, job, cluster, service)
chain_service_max_file_descriptors > ${limit}`,
    summary: 'almost as many open files as its limit: {{ $labels.service }}',
    description: (limit) =>
      `The service {{ $labels.service }} of {{ $labels.instance }} uses {{ $value | humanizePercentage }} of its open file limit, and has used more than ${percent(limit)} for 10 minutes.`,
  },
  {
    comment: 'F28. A kernel changes only with a reboot: there is nothing to wait for, and no reason to page at night.',
    alert: 'ChainHostSetUp.kernel',
    advice: [
      'Install another kernel, or remove this one, before the next reboot.',
      'If it runs now, set a maintenance window and reboot: `sudo chain-agent maintenance start 30m --reason upgrade`.',
    ],
    expr: 'chain_host_kernel_blocked == 1',
    summary: 'a kernel on which such nodes are known to fail is {{ $labels.kernel }}',
    description:
      'The {{ $labels.kernel }} kernel of {{ $labels.instance }} is one of those on which nodes hang or do not start; pending is the newest installed one, which the next reboot starts.',
  },
  {
    comment:
      'F29. Heat, the governor, and multithreading cost blocks without any other sign. A single throttle event leaves the window before ten minutes have passed.',
    alert: 'ChainHeat.cpu',
    for: '10m',
    advice: ['Check the cooling of the host: `sensors`.'],
    expr: hasIncreased('chain_host_cpu_throttles_total', '10m'),
    summary: 'heat throttles the CPUs',
    description:
      'The CPUs of {{ $labels.instance }} were throttled by heat {{ printf "%.0f" $value }} times within 10 minutes.',
  },
  {
    advice: MEMORY_ADVICE,
    comment:
      'Before the kernel kills a process. It is what programs can still get: huge pages are in use, the cache of files is not. No page: if a program of the node is killed, ChainServiceDown pages.',
    alert: 'ChainMemoryLow.available',
    summary: 'the memory of the host is almost used up',
    limit: 0.05,
    for: '5m',
    expr: (limit) => `chain_host_memory_available_ratio < ${limit}`,
    description: (limit) =>
      `Only {{ $value | humanizePercentage }} of the memory of {{ $labels.instance }} is available, and less than ${percent(limit)} has been for five minutes. Without memory the kernel kills the largest process, which is usually a part of the node.`,
  },
  {
    advice: MEMORY_ADVICE,
    alert: 'ChainMemoryLow.pressure',
    summary: 'the programs of the host wait for memory',
    for: '5m',
    expr: 'rate(chain_host_pressure_stalled_seconds_total{resource="memory"}[5m]) > 0.1',
    description:
      'For {{ $value | humanizePercentage }} of the time all programs of {{ $labels.instance }} have waited for memory, for more than 10% for five minutes: blocks are executed and votes are sent late.',
  },
  {
    comment: 'The kernel chooses the largest process, which is usually a part of the node.',
    alert: 'ChainMemoryLow.oom-kill',
    advice: [
      'See which process: `journalctl -k -g "Out of memory" --since -1h`.',
      'Find out what else uses the memory: `chain-agent status host`.',
    ],
    expr: hasIncreased('chain_host_oom_kills_total', '10m'),
    summary: 'the kernel killed a process for lack of memory',
    description:
      'The kernel of {{ $labels.instance }} has killed {{ printf "%.0f" $value }} processes within 10 minutes, because the host has no memory left.',
  },
  {
    comment:
      'Blocks and votes arrive over UDP: a dropped packet is a vote or a part of a block. Of the parts of a block 2.5 times as many are sent as are needed (monad-raptorcast/src/config.rs, raptor10_redundancy), so a small share is harmless: one in a hundred, for two minutes, is more than a single burst. Both counters are of all programs of the host.',
    alert: 'ChainUdpDrops',
    limit: 0.01,
    for: '2m',
    advice: [
      'Raise `net.core.rmem_max` as the documentation of the node says, and restart consensus and execution together: `chain-agent recover`.',
      'If it is high enough, find out what uses the CPUs: `chain-agent status host`.',
    ],
    expr: (limit) => `rate(chain_host_udp_errors_total{kind="receive_buffer"}[5m])
  / on (instance, job, cluster) (
    rate(chain_host_udp_received_total[5m])
      + on (instance, job, cluster) rate(chain_host_udp_errors_total{kind="receive_buffer"}[5m])
  )
> ${limit}`,
    summary: 'UDP packets are dropped: programs do not read them in time',
    description: (limit) =>
      `{{ $labels.instance }} has dropped {{ $value | humanizePercentage }} of its UDP packets in five minutes, more than ${percent(limit)}. Blocks arrive late, and votes are missing.`,
  },
  {
    comment:
      'The same share, before the kernel has the packets. Not `dropped`: a switch announces itself in a protocol that the kernel does not know, on every healthy host.',
    alert: 'ChainUdpDrops.card',
    limit: 0.01,
    for: '2m',
    advice: [
      'See its counters and the size of its receive buffers: `ethtool -S INTERFACE`, `ethtool -g INTERFACE`.',
      'If packets are damaged, replace the cable or the port, or ask the provider to.',
    ],
    expr: (limit) => `sum by (instance, job, cluster, device) (
  rate(chain_host_network_drops_total{kind=~"missed|error"}[5m])
)
  / on (instance, job, cluster, device)
rate(chain_host_network_received_total[5m]) > ${limit}`,
    summary: 'the network card {{ $labels.device }} loses packets',
    description: (limit) =>
      `The interface {{ $labels.device }} of {{ $labels.instance }} has lost packets in five minutes, {{ $value | humanizePercentage }} of those that it received, more than ${percent(limit)}. Blocks arrive late, and votes are missing.`,
  },
  {
    alert: 'ChainHostSetUp.governor',
    for: '10m',
    advice: ['Set the governor: `sudo cpupower frequency-set -g performance`.'],
    expr: 'sum by (instance, job, cluster) (chain_host_governor_cpus{governor!="performance"}) > 0',
    summary: 'some CPUs do not use the governor performance',
    description:
      'CPUs of {{ $labels.instance }} that have not used the frequency governor performance for 10 minutes: {{ $value }}. They raise their clock only once a block is late.',
  },
  {
    comment: 'It never changes by itself, and the fix needs a planned reboot: for information.',
    alert: 'ChainHostSetUp.smt',
    severity: 'info',
    for: '10m',
    advice: ['Turn it off at the next planned reboot: kernel parameter `nosmt`, or in the firmware.'],
    expr: 'chain_host_smt_active == 1',
    summary: 'simultaneous multithreading is on',
    description:
      'Two threads share each core of {{ $labels.instance }}: consensus and execution can slow each other down.',
  },
  {
    comment:
      'The right number depends on the version, and free pages matter only at a start; with none at all nothing starts.',
    alert: 'ChainHostSetUp.huge-pages',
    for: '5m',
    advice: [
      'Reserve huge pages: `vm.nr_hugepages` in `/etc/sysctl.d/`, as the installation guide of the node describes.',
    ],
    expr: 'chain_host_hugepages{size="2Mi"} == 0',
    summary: 'the kernel has no huge pages of {{ $labels.size }} for the node',
    description:
      'The kernel of {{ $labels.instance }} has had no huge pages of 2 MiB for five minutes: execution and the database tool cannot start.',
  },
  {
    comment: 'An upgrade takes the package off hold for minutes.',
    alert: 'ChainHostSetUp.not-on-hold',
    for: '1h',
    pending: 'nothing',
    advice: ['Put the package on hold: `sudo apt-mark hold PACKAGE`; `chain-agent check` has its name.'],
    expr: 'chain_package_held{package="node"} == 0',
    summary: 'the package of the node is not on hold',
    description:
      'The package of the node on {{ $labels.instance }} has not been on hold for an hour: an upgrade of the host also upgrades the node, and restarts it at that time.',
  },
  {
    comment: 'F31. A running node writes it every few blocks; half an hour is still well within what a start accepts.',
    alert: 'ChainStartFiles.forkpoint',
    limit: 1800,
    for: '10m',
    explainedBy: [{ alerts: ['ChainStartStalled'] }],
    advice: [
      'Check that consensus can write its directory: `chain-agent logs bft`.',
      'Do not restart the node before that: it would start from the old file.',
    ],
    expr: (limit) => `time() - chain_host_file_modified_timestamp_seconds{file="forkpoint"} > ${limit}
  and on (instance, job, cluster) (chain_service_active{service="bft"} == 1)
  unless on (instance, job, cluster) (instance:chain_statesync:active == 1)`,
    summary: 'the forkpoint of the node is no longer written',
    description: (limit) =>
      `The file {{ $labels.file }} of {{ $labels.instance }} was last written {{ $value | humanizeDuration }} ago, more than ${period(limit)}, while consensus runs: a restart would start from there.`,
  },
  {
    comment:
      'Consensus reads it at its start. One hour: an operator edits it before a restart. Absent with the drop-in of deploy/, which does not show that file.',
    alert: 'ChainStartFiles.node-config',
    severity: 'info',
    for: '1h',
    pending: 'nothing',
    advice: [
      'Compare the file with your copy before the next restart: a mistake in it ends the start.',
      'Restart consensus when it is safe: `chain-agent restart-window`.',
    ],
    expr: `chain_host_file_modified_timestamp_seconds{file="node"} > on (instance, job, cluster) chain_service_start_timestamp_seconds{service="bft"}
  and on (instance, job, cluster) (chain_service_active{service="bft"} == 1)`,
    summary: 'the configuration of consensus was changed after its start',
    description:
      'node.toml of {{ $labels.instance }} has been newer than the running consensus for an hour: the next start uses other settings.',
  },
  {
    ...BLIND,
    comment: 'If the agent works and a reading is missing, none of the rules above can fire.',
    expr: 'instance:chain_host_reading:unknown{reading=~"clock|kernel|ports|limits"} == 1',
    summary: 'a required host reading is missing: {{ $labels.reading }}',
  },
  {
    ...BLIND,
    comment:
      'These need an additional drop-in or unit (docs/how-to/host.md), which an operator may have decided against.',
    severity: 'info',
    expr: 'instance:chain_host_reading:unknown{reading=~"space|forkpoint|drive health"} == 1',
    summary: 'an optional host reading is missing: {{ $labels.reading }}',
  },
  {
    comment:
      'F36. Ten minutes: while a host is set up, the firewall or the unit may follow a little later than the socket. The ports of the RPC are meant to be open on a node of the role rpc.',
    alert: 'ChainPortExposed',
    component: 'security',
    for: '10m',
    advice: [
      'Bind it to 127.0.0.1, or block it in a firewall.',
      'If a firewall blocks it, which you have tested from another host, add the port to `host.firewalledPorts`.',
    ],
    expr: `chain_host_port_exposed == 1
unless on (instance, job, cluster, port) (
  chain_host_port_exposed{port=~"8080|8081"}
    and on (instance, job, cluster) (chain_node_role{role="rpc"} == 1)
)`,
    summary: 'a port that should be local is open to other hosts: {{ $labels.port }}',
    description:
      'A process on {{ $labels.instance }} has listened on port {{ $labels.port }} on more than the loopback interface for 10 minutes. The agent cannot detect whether a firewall protects it.',
  },
])
