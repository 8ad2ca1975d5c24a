import type { Host } from '../scenario/host.ts'

/** Hundredths of a second, as the kernel counts the time of processors. */
export interface Ticks {
  readonly busy: number
  readonly idle: number
}

export const CPUS = 8

/** `/proc/stat`, with the interrupts left out. */
export const renderStat = ({ busy, idle }: Ticks, { bootedMs }: Host): string => {
  const line = (name: string, parts: number): string => {
    const [user, system] = [Math.round((busy * 0.8) / parts), Math.round((busy * 0.2) / parts)]
    return `${name} ${user} 0 ${system} ${Math.round(idle / parts)} 0 0 0 0 0 0`
  }
  return [
    `cpu ${line('', 1)}`,
    ...Array.from({ length: CPUS }, (_, cpu) => line(`cpu${cpu}`, CPUS)),
    `btime ${Math.floor(bootedMs / 1000)}`,
    'processes 48211',
    '',
  ].join('\n')
}

/** `/proc/PID/limits`: three of its sixteen lines. */
export const renderLimits = ({ maxOpenFiles }: Host): string => {
  const row = (name: string, values: readonly string[]): string =>
    `${name.padEnd(26)}${values.map((value) => value.padEnd(21)).join('')}\n`
  const hard = String(Math.max(maxOpenFiles, 524_288))
  return [
    row('Limit', ['Soft Limit', 'Hard Limit', 'Units']),
    row('Max cpu time', ['unlimited', 'unlimited', 'seconds']),
    row('Max open files', [String(maxOpenFiles), hard, 'files']),
    row('Max locked memory', ['unlimited', 'unlimited', 'bytes']),
  ].join('')
}

/** What a node listens on: RPC and WebSocket, the two endpoints of metrics; and what every host does. */
const OWN_PORTS = [8080, 8081, 8889, 9143]
const SSH = 22
const LOOPBACK = '0100007F'
const ANY = '00000000'

/** `/proc/net/tcp`: the listening sockets, and one connection behind them. */
export const renderSockets = ({ exposedPorts }: Host): string => {
  const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0')
  const listening = [
    ...OWN_PORTS.filter((port) => !exposedPorts.includes(port)).map(
      (port) => `${LOOPBACK}:${hex(port)}`,
    ),
    ...[SSH, ...exposedPorts].map((port) => `${ANY}:${hex(port)}`),
  ].map((local) => ({ local, remote: `${ANY}:0000`, state: '0A' }))
  const connection = { local: `${LOOPBACK}:${hex(8080)}`, remote: `${LOOPBACK}:D2F4`, state: '01' }
  const rows = [...listening, connection].map(
    ({ local, remote, state }, at) =>
      `${String(at).padStart(4)}: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000     0        0 ${20_000 + at} 1 0000000000000000 100 0 0 10 0\n`,
  )
  return `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n${rows.join('')}`
}

/** `/proc/net/tcp6`: the OpenTelemetry collector, on a loopback address of the older kind within the newer. */
export const renderSockets6 = (): string =>
  [
    '  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    `   0: 0000000000000000FFFF00000100007F:10DD ${'0'.repeat(32)}:0000 0A 00000000:00000000 00:00000000 00000000     0        0 20100 1 0000000000000000 100 0 0 10 0`,
    '',
  ].join('\n')
