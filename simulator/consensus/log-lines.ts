import { type Block, type Chain, digest, FINAL_AFTER, type Timeout } from '../chain.ts'
import {
  directiveTable,
  linesPerBlock,
  linesPerSecond,
  oneOf,
  setIn,
  settingOf,
  taking,
} from '../scenario/directives.ts'
import type { Condition, Timeline } from '../scenario/timeline.ts'
import { widen } from '../../src/core/widen.ts'

/** A line of the consensus log before rendering: many are never written. */
export interface LogLine {
  readonly atMs: number
  readonly level: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR'
  /** The logging module, without the name prefix. */
  readonly target: string
  readonly message: string
  /** Values printed by Rust's Debug are text, counts are numbers. */
  readonly fields?: Readonly<Record<string, string | number>>
}

export const renderLogLine = (
  prefix: string,
  { atMs, level, target, message, fields }: Omit<LogLine, 'level'> & { readonly level: string },
): string =>
  JSON.stringify({
    timestamp: new Date(atMs).toISOString().replace('Z', '000Z'),
    level,
    fields: { message, ...fields },
    target: `${prefix}_${target}`,
  })

/** A block ID as Rust's Debug prints it. */
export const short = (id: string): string => `${id.slice(0, 4)}..${id.slice(-4)}`

interface LineContext {
  readonly chain: Chain
  readonly atMs: number
}

/** What a program logs with one message: the level, the module and the text are the same each time. */
const logging =
  (level: LogLine['level'], target: string, message: string) =>
  (atMs: number, fields?: LogLine['fields']): LogLine => ({ atMs, level, target, message, ...(fields && { fields }) })

const STATE = 'consensus_state'
const committedBlock = logging('INFO', 'ledger', 'committed block')
const advancingRound = logging('DEBUG', 'consensus::pacemaker', 'advancing round')
const proposalMessage = logging('DEBUG', STATE, 'proposal message')
const sendingVote = logging('DEBUG', STATE, 'sending vote')
const voteSuccessful = logging('DEBUG', STATE, 'vote successful')
const createdCertificate = logging('INFO', 'consensus::vote_state', 'Created new QC')
const localTimeout = logging('DEBUG', STATE, 'local timeout')
const remoteTimeout = logging('DEBUG', STATE, 'remote timeout message')
const notCoherent = logging('WARN', 'eth_block_policy', 'block not coherent, execution result mismatch')
const notVoting = logging('WARN', STATE, 'not voting on proposal, is not coherent')
const noHeader = logging('WARN', STATE, "no eth_header found, can't propose")

/** The block that becomes final with another one, as the ledger logs it. */
export const committed = ({ chain, atMs }: LineContext, { seqNum }: Block): readonly LogLine[] => {
  const final = chain.block(seqNum - FINAL_AFTER)
  return final ? [committedBlock(atMs, { num_tx: final.transactions, block_num: Number(final.seqNum) })] : []
}

/** The next round starts with the certificate of the block. */
export const advanced = ({ atMs }: LineContext, block: Block): LogLine =>
  advancingRound(atMs, { certificate: certificateOf(block) })

export const certificateOf = ({ id, epoch, round }: Block): string =>
  `Qc(QC { info: Vote { id: ${short(id)}, epoch: ${epoch}, round: ${round} }, ${signaturesOf(id)} })`

/** A proposal that arrives in time. */
export const proposed = ({ atMs }: LineContext, block: Block): LogLine => {
  const { id, epoch, round, seqNum, leader, timeMs } = block
  const header = `ConsensusBlockHeader { block_round: ${round}, epoch: ${epoch}, seq_num: ${seqNum}, timestamp_ns: ${timeMs}000000, author: ${leader.publicKey}, .. }`
  const proposal = `ProposalMessage { proposal_round: ${round}, proposal_epoch: ${epoch}, tip: ConsensusTip { block_header: ${header}, .. }, last_round_tc: None }`
  return proposalMessage(atMs, { author: leader.publicKey, proposal, block_id: short(id) })
}

/** The vote of a validator. */
export const voted = ({ atMs }: LineContext, { id, epoch, round }: Block): readonly LogLine[] => {
  const vote = `Vote { id: ${short(id)}, epoch: ${epoch}, round: ${round} }`
  return [sendingVote(atMs, { round: String(round), vote }), voteSuccessful(atMs, { vote })]
}

/** The next leader collects the votes. */
export const collected = ({ atMs }: LineContext, { round, epoch }: Block): LogLine =>
  createdCertificate(atMs, { round: String(round), epoch: String(epoch) })

/** A local timeout, and the timeouts of other nodes. */
export const timedOut = (
  { chain, atMs }: LineContext,
  { round, leader }: Pick<Timeout, 'round' | 'leader'>,
): readonly LogLine[] => {
  const next = chain.round(round + 1n)?.leader ?? leader
  const fields = { round: String(round), leader: leader.publicKey, next_leader: next.publicKey }
  const others = chain.validators.slice(1, 1 + REMOTE_TIMEOUTS)
  return [
    localTimeout(atMs, fields),
    ...others.map(({ publicKey }) => remoteTimeout(atMs, { author: publicKey, round: String(round) })),
  ]
}

const REMOTE_TIMEOUTS = 3

/** A block with a wrong result, which is checked again with each block on top of it. */
export const diverged = (atMs: number, checks: number): readonly LogLine[] => [
  ...Array.from({ length: checks }, () => notCoherent(atMs)),
  notVoting(atMs),
]

/** A proposal whose time is too far from that of this node. */
export const mistimed = logging('WARN', STATE, 'Timestamp validation failed')

/** The leader has no executed block to build on. */
export const cannotPropose = (atMs: number, round: bigint): LogLine => noHeader(atMs, { round: String(round) })

/** Timeouts of enough other nodes form a certificate. */
export const advancedByTimeout = ({ chain, atMs }: LineContext, { round }: Pick<Timeout, 'round'>): LogLine => {
  const { epoch, round: highest, id } = chain.headAt(atMs)
  const certificate = `Tc(TimeoutCertificate { epoch: ${epoch}, round: ${round}, tip_rounds: [HighTipRoundSigColTuple { high_qc_round: ${highest}, high_tip_round: 0, ${signaturesOf(id)} }], high_extend: Qc(..) })`
  return advancingRound(atMs, { certificate })
}

const signaturesOf = (id: string): string =>
  `sigs: BlsSignatureCollection { signers: SignerMap(BitVec<u8, bitvec::order::Lsb0> { head: 000, bits: 20, capacity: 64 } [1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1]), sig: LazyBlsSignature("${digest('signature', id)}") }`

const LOG_LEVELS = ['DEBUG', 'INFO'] as const

/** How much the consensus log contains in addition to the lines about blocks and rounds. */
export const usualLogVolume = {
  /** The lowest level that is written. */
  level: widen<(typeof LOG_LEVELS)[number]>('DEBUG'),
  /** Lines of DEBUG without meaning, with every block. */
  noise: 3,
  flood: widen<Steady | undefined>(undefined),
}

const changeLog = setIn('log')

export const logVolumeDirectives = directiveTable({
  'log prints': ['the lowest level that consensus logs', settingOf('log', 'level', oneOf(LOG_LEVELS))],
  'log noise': [
    'consensus logs that number of DEBUG lines without meaning with every block',
    settingOf('log', 'noise', linesPerBlock),
  ],
  'log floods': [
    'consensus logs that number of such lines per second; above its rate limit journald drops the rest',
    taking(linesPerSecond, (perSecond) => changeLog((_, fromMs) => ({ flood: { fromMs, perSecond } }))),
  ],
  'log calms': ['the flood is over', changeLog({ flood: undefined })],
})

/** Lines at a constant rate, from `fromMs` on. */
export interface Steady {
  readonly fromMs: number
  readonly perSecond: number
}

interface TimeRange {
  /** Exclusive; `toMs` is inclusive. */
  readonly fromMs: number
  readonly toMs: number
}

/** The times, evenly distributed, of what a scenario repeats at a constant rate, each with its number. */
export function* steadyTimes(
  { segments }: Timeline,
  steadyIn: (condition: Condition) => Steady | undefined,
  { fromMs, toMs }: TimeRange,
): Generator<{ readonly atMs: number; readonly number: number }> {
  for (const [index, segment] of segments.entries()) {
    const steady = steadyIn(segment.condition)
    const endMs = segments[index + 1]?.fromMs ?? Infinity
    if (!steady || endMs <= fromMs || segment.fromMs > toMs) continue
    const msPerLine = 1000 / steady.perSecond
    const first = Math.max(segment.fromMs, fromMs + 1) - steady.fromMs
    for (let number = Math.max(0, Math.ceil(first / msPerLine)); ; number += 1) {
      const atMs = steady.fromMs + Math.floor(number * msPerLine)
      if (atMs > toMs || atMs >= endMs) break
      if (atMs > fromMs) yield { atMs, number }
    }
  }
}

/** DEBUG lines of a healthy node. Some mention statesync and blocksync: the node serves other nodes. */
const NOISE = [
  { target: 'consensus_state', message: 'vote message' },
  { target: 'peer_discovery', message: 'handling ping request' },
  { target: 'blocksync::blocksync', message: 'blocksync: peer headers request' },
  { target: 'statesync_executor::ipc', message: 'received statesync request, num pending 0, in progress 1' },
  { target: 'raptorcast', message: 'received raptorcast chunk' },
  { target: 'statesync_executor::ipc', message: 'sending response' },
  { target: 'dataplane', message: 'handled datagram' },
] as const

export const noiseLine = (number: number, atMs: number): LogLine => {
  const { target, message } = NOISE[number % NOISE.length] ?? NOISE[0]
  return { atMs, level: 'DEBUG', target, message, fields: { from: `198.51.100.${10 + (number % 20)}` } }
}

/** The lines of the floods of a scenario, evenly distributed. */
export const createLogFlood = (timeline: Timeline) =>
  function* (fromMs: number, toMs: number): Generator<LogLine> {
    const times = steadyTimes(timeline, ({ log: { flood } }) => flood, { fromMs, toMs })
    for (const { atMs, number } of times) {
      if (timeline.conditionAt(atMs).services.bft.state === 'active') {
        yield noiseLine(number, atMs)
      }
    }
  }
