import type { Host } from './host.ts'

/** Ports of a node: RPC, WebSocket and two metrics endpoints. */
const OWN_PORTS = [8080, 8081, 8889, 9143]
const SSH = 22
const LOOPBACK = '0100007F'
const ANY = '00000000'

/** `/proc/net/tcp`: the listening sockets, then one connection. */
export const renderSockets = ({ exposedPorts }: Host): string => {
  const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0')
  const listening = [
    ...OWN_PORTS.filter((port) => !exposedPorts.includes(port)).map((port) => `${LOOPBACK}:${hex(port)}`),
    ...[SSH, ...exposedPorts].map((port) => `${ANY}:${hex(port)}`),
  ].map((local) => ({ local, remote: `${ANY}:0000`, state: '0A' }))
  const connection = { local: `${LOOPBACK}:${hex(8080)}`, remote: `${LOOPBACK}:D2F4`, state: '01' }
  const rows = [...listening, connection].map(
    ({ local, remote, state }, at) =>
      `${String(at).padStart(4)}: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000     0        0 ${20_000 + at} 1 0000000000000000 100 0 0 10 0\n`,
  )
  return `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n${rows.join('')}`
}

/** `/proc/net/tcp6`: the OpenTelemetry collector, on an IPv4-mapped loopback address. */
export const renderSockets6 = (): string =>
  [
    '  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    `   0: 0000000000000000FFFF00000100007F:10DD ${'0'.repeat(32)}:0000 0A 00000000:00000000 00:00000000 00000000     0        0 20100 1 0000000000000000 100 0 0 10 0`,
    '',
  ].join('\n')
