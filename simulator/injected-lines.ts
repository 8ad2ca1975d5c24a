import { type LogLine, renderLogLine, type Steady, steadyTimes } from './consensus/log-lines.ts'
import { executionLine } from './execution.ts'
import type { NodeSubject } from './subject.ts'
import type { Draft } from './journal/entry.ts'
import { serviceEntry } from './journal/journal.ts'
import { type Argument, directiveTable, linesPerSecond, setIn, taking } from './scenario/directives.ts'
import type { Change, Effect, Timeline } from './scenario/timeline.ts'
import { endService, pidOf } from './services/service.ts'
import { BACKTRACE_LINES } from './tools/tools.ts'
import { widen } from '../src/core/widen.ts'

/** Log lines that a scenario injects in addition to those of normal operation. */
export const noInjectedLines = {
  /** The lines injected last. */
  last: widen<Injected | undefined>(undefined),
  /** A line of consensus at a constant rate. */
  repeated: widen<(Steady & { readonly line: RepeatedLine }) | undefined>(undefined),
  /** While other nodes send messages that cannot be read. */
  networkErrors: widen<Steady | undefined>(undefined),
}

interface Injected {
  readonly role: 'bft' | 'execution' | 'rpc'
  readonly lines: readonly InjectedLine[]
  readonly atMs: number
}

/** A line of the program's logger; or text that it prints without its logger. PREFIX stands for the name prefix. */
type InjectedLine = { readonly level: string; readonly place: string; readonly message: string } | string

const inject = setIn('injectedLines')

type RepeatedLine = Omit<LogLine, 'atMs'>

const warn = (target: string, message: string): RepeatedLine => ({ level: 'WARN', target, message })

/** Lines of consensus that a scenario can repeat, by their log pattern. */
const REPEATED = new Map<string, RepeatedLine>([
  ['wal_stopped', { level: 'ERROR', target: 'wal::events', message: 'waltrace thread stopped' }],
  ['wal_lagging', warn('node', 'waltrace is lagging; dropping wal event')],
  ['clock_rejected', warn('consensus_state', 'Timestamp validation failed')],
  ['result_not_coherent', warn('eth_block_policy', 'block not coherent, execution result mismatch')],
  ['statesync_backlogged', warn('statesync', 'dropping inbound statesync request, execution backlogged?')],
  // raptorcast/src/lib.rs: a message about groups of full nodes arrives before the router has the set of its epoch.
  ['set_not_loaded', warn('raptorcast', 'No validators found for current epoch: Epoch(1204)')],
])

const repeatedLine: Argument<{ readonly line: RepeatedLine; readonly perSecond: number }> = {
  expected: `one of ${[...REPEATED.keys()].join(', ')}; lines per second after it, such as "wal_stopped 250"`,
  read: (text) => {
    const [name = '', rate = '10', ...rest] = text.split(' ')
    const [line, perSecond] = [REPEATED.get(name), linesPerSecond.read(rate)]
    return line && perSecond !== undefined && rest.length === 0 ? { line, perSecond } : undefined
  },
}

const injectedLine: Argument<InjectedLine> = {
  expected: 'a line: its level, module or place, and message; or a text that the program prints without its logger',
  read: (text) => {
    const [, level, place, message] = /^(DEBUG|INFO|WARN|WARNING|ERROR) (\S+) (.+)$/.exec(text) ?? []
    if (level === undefined || place === undefined || message === undefined)
      return text.includes(' ') ? text : undefined
    return { level, place, message }
  },
}

const logs = (role: Injected['role'], program: string) =>
  [
    `${program} writes that line and continues; PREFIX stands for the name prefix`,
    taking(injectedLine, (line) => inject((_, atMs) => ({ last: { role, lines: [line], atMs } }))),
  ] as const

const ASSERTION = [
  ...BACKTRACE_LINES,
  '      0x5581b3e0c4d1: PREFIX_assertion_failed',
  '      0x5581b3dfa2e8: PREFIX::runloop',
  '      0x5581b3df7c40: main',
  "PREFIX: /usr/src/PREFIX-execution/category/execution/runloop.cpp:216: void PREFIX::runloop(...): Assertion 'block_cache.find(parent_id)' failed.",
  'assertion failure message: blocks diverge: the parent of the proposed block is not known',
]
const SIGABRT = 6

const asserts: Effect = (condition, atMs) => {
  const { services, injectedLines } = condition
  const exit = { atMs, code: 'dumped', status: SIGABRT, requested: false } as const
  return {
    ...condition,
    injectedLines: { ...injectedLines, last: { role: 'execution', lines: ASSERTION, atMs } },
    services: { ...services, execution: endService(services.execution, exit) },
  }
}

export const injectedLineDirectives = directiveTable({
  'bft logs': logs('bft', 'consensus'),
  'bft repeats': [
    'consensus writes that line ten times a second, or at that rate, until `bft calms`',
    taking(repeatedLine, (repeated) => inject((_, atMs) => ({ repeated: { ...repeated, fromMs: atMs } }))),
  ],
  'bft calms': ['the lines that consensus repeats end', inject({ repeated: undefined })],
  'execution logs': logs('execution', 'execution'),
  'rpc logs': logs('rpc', 'the RPC'),
  'execution asserts': ['the process writes a backtrace with an assertion and aborts', asserts],
  'network noise': [
    'consensus logs that number of errors per second about messages of other nodes',
    taking(linesPerSecond, (perSecond) => inject((_, atMs) => ({ networkErrors: { fromMs: atMs, perSecond } }))),
  ],
  'network calms': ['these errors end', inject({ networkErrors: undefined })],
})

/** The lines that a scenario injects at a change; none if the program does not run. */
export function* injectedEntries(subject: NodeSubject, { atMs, before, after }: Change): Generator<Draft> {
  const { last } = after.injectedLines
  if (!last || last === before.injectedLines.last) return
  const service = before.services[last.role]
  if (service.state !== 'active') return
  const { prefix } = subject
  const program = { bft: `${prefix}-node`, execution: prefix, rpc: `${prefix}-rpc` }[last.role]
  const textOf = (line: InjectedLine): string => {
    if (typeof line === 'string') return line
    const { level, place, message } = line
    return last.role === 'execution'
      ? executionLine({ atMs, pid: pidOf(service), level, place, message })
      : renderLogLine(prefix, { atMs, level, target: place, message })
  }
  for (const line of last.lines) {
    yield serviceEntry(subject, service, { atMs, text: textOf(line).replaceAll('PREFIX', prefix), program })
  }
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
      if (repeated) yield { atMs, ...repeated.line }
    }
    const errors = steadyTimes(timeline, ({ injectedLines }) => injectedLines.networkErrors, range)
    for (const { atMs, number } of errors) {
      const line = NETWORK_ERRORS[number % NETWORK_ERRORS.length] ?? NETWORK_ERRORS[0]
      const peer = Math.floor(number / NETWORK_ERRORS.length) % NOISY_PEERS
      const fields = { addr: `203.0.113.${20 + peer}:8000` }
      yield { atMs, ...line, fields }
    }
  }
