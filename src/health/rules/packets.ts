import { type AlertRow, percent } from './rule.ts'

/** Rows of the group of the host: packets that no program gets. */
export const packets: readonly AlertRow[] = [
  {
    comment:
      'Blocks and votes arrive over UDP: a dropped packet is a vote or a part of a block. Of the parts of a block 2.5 times as many are sent as are needed (monad-raptorcast/src/config.rs, raptor10_redundancy), so a small share is harmless: one in a hundred, for two minutes, is more than a single burst. Both counters are of all programs of the host.',
    alert: 'ChainUdpDrops',
    severity: 'warning',
    component: 'host',
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
    alert: 'ChainUdpDrops',
    severity: 'warning',
    component: 'host',
    why: 'card',
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
]
