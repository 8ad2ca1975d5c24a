import { type LogLine, steadyTimes } from './consensus/log-lines.ts'
import type { Timeline } from './scenario/timeline.ts'

/** Log lines of consensus that a scenario can repeat. */
export const REPEATED = [
  'wal_stopped',
  'wal_lagging',
  'clock_rejected',
  'result_not_coherent',
  'statesync_backlogged',
  'set_not_loaded',
] as const
export type Repeated = (typeof REPEATED)[number]

/** Texts of the lines that consensus repeats. */
export const REPEATED_LINES: Readonly<Record<Repeated, Omit<LogLine, 'atMs'>>> = {
  wal_stopped: { level: 'ERROR', target: 'wal::events', message: 'waltrace thread stopped' },
  wal_lagging: { level: 'WARN', target: 'node', message: 'waltrace is lagging; dropping wal event' },
  clock_rejected: { level: 'WARN', target: 'consensus_state', message: 'Timestamp validation failed' },
  result_not_coherent: {
    level: 'WARN',
    target: 'eth_block_policy',
    message: 'block not coherent, execution result mismatch',
  },
  statesync_backlogged: {
    level: 'WARN',
    target: 'statesync',
    message: 'dropping inbound statesync request, execution backlogged?',
  },
  // raptorcast/src/lib.rs: a message about groups of full nodes arrives before the router has the set of its epoch.
  set_not_loaded: {
    level: 'WARN',
    target: 'raptorcast',
    message: 'No validators found for current epoch: Epoch(1204)',
  },
}

/** The first two at DEBUG: raptorcast/src/auth/socket.rs, wireauth/src/session/transport.rs. */
const NETWORK_ERRORS = [
  { level: 'DEBUG', target: 'raptorcast', message: 'failed to decrypt message' },
  { level: 'DEBUG', target: 'wireauth', message: 'session timeout expired' },
  { level: 'WARN', target: 'consensus_state', message: 'Timestamp validation failed' },
] as const
const NOISY_PEERS = 5

/** Lines that a scenario injects at a constant rate. */
export const createSteadyLines = (timeline: Timeline) =>
  function* (fromMs: number, toMs: number): Generator<LogLine> {
    const range = { fromMs, toMs }
    for (const { atMs } of steadyTimes(timeline, ({ injectedLines }) => injectedLines.repeated, range)) {
      const { repeated } = timeline.conditionAt(atMs).injectedLines
      if (repeated) yield { atMs, ...REPEATED_LINES[repeated.message] }
    }
    const errors = steadyTimes(timeline, ({ injectedLines }) => injectedLines.networkErrors, range)
    for (const { atMs, number } of errors) {
      const line = NETWORK_ERRORS[number % NETWORK_ERRORS.length] ?? NETWORK_ERRORS[0]
      const peer = Math.floor(number / NETWORK_ERRORS.length) % NOISY_PEERS
      const fields = { addr: `203.0.113.${20 + peer}:8000` }
      yield { atMs, ...line, fields }
    }
  }
