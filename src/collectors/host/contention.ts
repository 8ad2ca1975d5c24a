import { sample, sampleIfKnown } from '../../core/metric.ts'
import { parseColumns, parseDefaultInterface, parseNamedCount, parsePressure } from '../../parsers/kernel-files.ts'
import { minute } from '../../core/units.ts'
import type { FileTree } from '../../sources/file-tree.ts'
import { type DROP_KINDS, RESOURCES } from './definition.ts'
import { type HostCheck, type HostUses, readCount, samplesOfEach } from './host-check.ts'

/**
 * Counters of `/proc/net/snmp` that mean lost packets of blocks and votes, which arrive over UDP. Not InErrors: it contains
 * RcvbufErrors.
 */
const UDP_ERRORS = [
  ['receive_buffer', 'RcvbufErrors'],
  ['send_buffer', 'SndbufErrors'],
] as const
const CARD_DROPS: readonly (readonly [(typeof DROP_KINDS)[number], string])[] = [
  ['missed', 'rx_missed_errors'],
  ['error', 'rx_errors'],
  ['dropped', 'rx_dropped'],
]
const BUFFERS = [
  ['receive', 'rmem_max'],
  ['send', 'wmem_max'],
] as const

/** What makes a node late although nothing has failed: waiting for CPU, memory and drives, and lost packets. */
export const contentionChecks = ({ host: { procfs, sysfs } }: HostUses): readonly HostCheck[] => [
  {
    name: 'pressure',
    read: () =>
      samplesOfEach(RESOURCES, async (resource) => {
        const text = await procfs.read(`pressure/${resource}`)
        if (text === null) return []
        const { some, full } = parsePressure(text)
        return [
          sample('chain_host_pressure_waiting_seconds_total', some, { resource }),
          // All tasks of a host cannot wait for its CPUs at once: the kernel reports 0.
          ...(resource === 'cpu' ? [] : sampleIfKnown('chain_host_pressure_stalled_seconds_total', full, { resource })),
        ]
      }),
  },
  {
    name: 'UDP errors',
    read: async () => {
      const text = await procfs.read('net/snmp')
      if (text === null) return []
      const counts = parseColumns('the counters of UDP', 'Udp', text)
      return [
        ...sampleIfKnown('chain_host_udp_received_total', counts.get('InDatagrams')),
        ...UDP_ERRORS.flatMap(([kind, column]) =>
          sampleIfKnown('chain_host_udp_errors_total', counts.get(column), { kind }),
        ),
      ]
    },
  },
  {
    name: 'network card',
    read: async () => {
      const routes = await procfs.read('net/route')
      const device = routes === null ? null : parseDefaultInterface(routes)
      if (device === null) return []
      const card = await findCard(sysfs, device)
      if (card === null) return `unknown: ${device} of the default route is no network card`
      const count = (file: string): Promise<bigint | null> =>
        readCount(sysfs, `class/net/${card}/statistics/${file}`, `${file} of ${card}`)
      return [
        ...sampleIfKnown('chain_host_network_received_total', await count('rx_packets'), { device: card }),
        ...(await samplesOfEach(CARD_DROPS, async ([kind, file]) =>
          sampleIfKnown('chain_host_network_drops_total', await count(file), { device: card, kind }),
        )),
      ]
    },
  },
  {
    name: 'socket buffers',
    every: minute,
    read: () =>
      samplesOfEach(BUFFERS, async ([direction, file]) => {
        const limit = await readCount(procfs, `sys/net/core/${file}`, 'the limit of a socket buffer')
        return sampleIfKnown('chain_host_socket_buffer_max_bytes', limit, { direction })
      }),
  },
  {
    name: 'killed for memory',
    read: async () => {
      const text = await procfs.read('vmstat')
      return sampleIfKnown('chain_host_oom_kills_total', text === null ? null : parseNamedCount('oom_kill', text))
    },
  },
]

/** A VLAN of a bond of a card. */
const MOST_LOWER = 3
const LOWER = 'lower_'

/**
 * The card of an interface, or the bond that adds up its cards: a bridge or a VLAN counts no packets that were missed, and
 * has the cards below it. Null if there is not exactly one.
 */
const findCard = async (sysfs: FileTree, name: string, left = MOST_LOWER): Promise<string | null> => {
  const entries = (await sysfs.list(`class/net/${name}`)) ?? []
  if (entries.includes('device') || entries.includes('bonding')) return name
  const [lower, ...others] = entries.filter((entry) => entry.startsWith(LOWER))
  if (lower === undefined || others.length > 0 || left === 0) return null
  return findCard(sysfs, lower.slice(LOWER.length), left - 1)
}
