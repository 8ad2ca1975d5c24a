import { invocationOf, pidOf, type Service, unitOf } from '../services/service.ts'
import type { Draft } from './journal.ts'

interface NodeName {
  readonly node: string
  readonly prefix: string
}

interface OutputLine {
  readonly atMs: number
  readonly text: string
  readonly program: string
}

/** The journal entry for a line that a service writes to standard output or error. */
export const serviceEntry = ({ node, prefix }: NodeName, service: Service, line: OutputLine): Draft =>
  runEntry(runOf({ node, prefix }, service), line)

interface Run {
  readonly unit: string
  readonly pid: number
  readonly invocation: string
}

/** Cached per run of a service: the digests cost more than the lines. Nodes do not share Service objects. */
const runs = new WeakMap<Service, Run>()

const runOf = ({ node, prefix }: NodeName, service: Service): Run => {
  const known = runs.get(service)
  if (known) return known
  const run = {
    unit: unitOf(prefix, service.role),
    pid: pidOf(service),
    invocation: invocationOf(node, service),
  }
  runs.set(service, run)
  return run
}

/** The journal entry for a line of any run of any unit. */
export const runEntry = ({ unit, pid, invocation }: Run, { atMs, text, program }: OutputLine): Draft => ({
  atMs,
  fields: {
    MESSAGE: text,
    PRIORITY: '6',
    SYSLOG_IDENTIFIER: program,
    SYSLOG_FACILITY: '3',
    _PID: String(pid),
    _COMM: program.slice(0, 15),
    _SYSTEMD_UNIT: unit,
    _SYSTEMD_INVOCATION_ID: invocation,
    _TRANSPORT: 'stdout',
  },
})

/** The entry of journald itself when it accepts messages of the unit again. */
export const suppressedEntry = (unit: string, atMs: number, dropped: number): Draft => ({
  atMs,
  fields: {
    MESSAGE: `Suppressed ${dropped} messages from ${unit}`,
    MESSAGE_ID: 'a596d6fe7bfa4994828e72309e95d61e',
    PRIORITY: '6',
    N_DROPPED: String(dropped),
    OBJECT_SYSTEMD_UNIT: unit,
    SYSLOG_IDENTIFIER: 'systemd-journald',
    SYSLOG_FACILITY: '3',
    _PID: '412',
    _UID: '0',
    _COMM: 'systemd-journal',
    _SYSTEMD_UNIT: 'systemd-journald.service',
    _TRANSPORT: 'driver',
  },
})

/** journald's defaults are 10,000 messages in 30 s, times six where a terabyte of disk is free. */
const BURST = 60_000
const INTERVAL_MS = 30_000

/** Returns the number of messages dropped before this one; undefined if this one is dropped, too. */
type RateLimit = (atMs: number) => number | undefined

/** The rate limit of journald for one service. */
export const createRateLimit = (): RateLimit => {
  let beganMs = -Infinity
  let taken = 0
  let dropped = 0
  return (atMs) => {
    if (atMs - beganMs >= INTERVAL_MS) {
      const before = dropped
      beganMs = atMs
      taken = 1
      dropped = 0
      return before
    }
    if (taken < BURST) {
      taken += 1
      return 0
    }
    dropped += 1
    return undefined
  }
}
