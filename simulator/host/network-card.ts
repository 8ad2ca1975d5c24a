import { dropsAt, type Host } from './host.ts'

const CARD = 'enp1s0'
const PACKETS_PER_SECOND = 8500
/** Frames of protocols that the kernel does not know, such as LLDP of the switch: one in half a minute. */
const UNWANTED_PER_SECOND = 1 / 30

/** The default route, and the counters of its interface. */
export const networkCardFiles = (
  uptimeSeconds: number,
  { cardDrops }: Host,
  nowMs: number,
): Readonly<Record<string, string>> => {
  const counters = {
    rx_packets: Math.round(uptimeSeconds * PACKETS_PER_SECOND),
    rx_missed_errors: dropsAt(cardDrops, nowMs),
    rx_errors: 0,
    rx_dropped: Math.round(uptimeSeconds * UNWANTED_PER_SECOND),
  }
  return {
    'proc/net/route': [
      'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT',
      `${CARD}\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0`,
      `${CARD}\t000200C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0`,
      '',
    ].join('\n'),
    [`sys/class/net/${CARD}/device/vendor`]: '0x8086\n',
    ...Object.fromEntries(
      Object.entries(counters).map(([file, count]) => [`sys/class/net/${CARD}/statistics/${file}`, `${count}\n`]),
    ),
  }
}
