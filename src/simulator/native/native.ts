import {
  bareDirective,
  basisPoints,
  type Directive,
  directive,
  duration,
  type Effect,
  peerCount,
} from '../scenario/directives.ts'

/** The state of the metrics endpoint of consensus, and of what only these metrics show. */
export interface Native {
  /** Whether its endpoint listens while it runs. */
  readonly listens: boolean
  /** Since when its values are frozen; undefined while they change. */
  readonly frozenMs: number | undefined
  /** How long the OpenTelemetry collector serves the last values it received, in milliseconds. */
  readonly keptMs: number
  /** Undefined for the usual number. */
  readonly peers: number | undefined
  readonly sessions: number | undefined
  readonly upstream: number
  /** In basis points of the network's stake; 0 outside the active set. */
  readonly stakeBps: number
  readonly votes: boolean
  /** Delay of late votes; undefined while votes are in time. */
  readonly voteDelayMs: number | undefined
  readonly executionLags: boolean
  readonly stateRootsDiffer: boolean
}

const MINUTE = 60_000

export const usualNative: Native = {
  listens: true,
  frozenMs: undefined,
  keptMs: MINUTE,
  peers: undefined,
  sessions: undefined,
  upstream: 3,
  stakeBps: 480,
  votes: true,
  voteDelayMs: undefined,
  executionLags: false,
  stateRootsDiffer: false,
}

/** Only a member of the active set votes. */
export const isVoting = ({ votes, stakeBps }: Native): boolean => votes && stakeBps > 0

const changeNative =
  (change: Partial<Native> | ((atMs: number) => Partial<Native>)): Effect =>
  (condition, atMs) => ({
    ...condition,
    native: {
      ...condition.native,
      ...(typeof change === 'function' ? change(atMs) : change),
    },
  })

/** Directives for the metrics of consensus, and for what only these metrics show. */
export const nativeDirectives: readonly Directive[] = [
  bareDirective(
    {
      subject: 'native',
      verb: 'freezes',
      meaning: "consensus' metrics keep their current values, at both endpoints",
    },
    changeNative((atMs) => ({ frozenMs: atMs })),
  ),
  bareDirective(
    { subject: 'native', verb: 'moves', meaning: "consensus' metrics are current again" },
    changeNative({ frozenMs: undefined }),
  ),
  bareDirective(
    {
      subject: 'native',
      verb: 'vanishes',
      meaning: 'consensus does not serve metrics: its port is closed',
    },
    changeNative({ listens: false }),
  ),
  bareDirective(
    { subject: 'native', verb: 'returns', meaning: 'consensus serves its metrics again' },
    changeNative({ listens: true }),
  ),
  directive(
    {
      subject: 'otelcol',
      verb: 'keeps',
      meaning: 'how long the OpenTelemetry collector serves the last values it received',
    },
    duration,
    (keptMs) => changeNative({ keptMs }),
  ),
  directive(
    {
      subject: 'peers',
      verb: 'number',
      meaning: 'the number of peers that consensus has discovered',
    },
    peerCount,
    (peers) => changeNative({ peers }),
  ),
  directive(
    { subject: 'peers', verb: 'sessions', meaning: 'the number of peers with a session' },
    peerCount,
    (sessions) => changeNative({ sessions }),
  ),
  directive(
    { subject: 'peers', verb: 'upstream', meaning: 'the number of upstream validators' },
    peerCount,
    (upstream) => changeNative({ upstream }),
  ),
  directive(
    {
      subject: 'stake',
      verb: 'is',
      meaning: "the node's share of the stake; with 0 it is outside the active set and does not vote",
    },
    basisPoints,
    (stakeBps) => changeNative({ stakeBps }),
  ),
  bareDirective(
    { subject: 'votes', verb: 'stop', meaning: 'the node follows the network and does not vote' },
    changeNative({ votes: false }),
  ),
  bareDirective(
    { subject: 'votes', verb: 'resume', meaning: 'the node votes again, in time' },
    changeNative({ votes: true, voteDelayMs: undefined }),
  ),
  directive(
    { subject: 'votes', verb: 'late', meaning: 'one vote in a hundred takes that long, or longer' },
    duration,
    (voteDelayMs) => changeNative({ voteDelayMs }),
  ),
  bareDirective(
    {
      subject: 'bft',
      verb: 'lags',
      meaning: 'consensus waits for execution once a second',
    },
    changeNative({ executionLags: true }),
  ),
  bareDirective(
    {
      subject: 'bft',
      verb: 'badroot',
      meaning: 'consensus receives proposals with a different state root, one in five seconds',
    },
    changeNative({ stateRootsDiffer: true }),
  ),
  bareDirective(
    {
      subject: 'bft',
      verb: 'agrees',
      meaning: 'consensus no longer waits for execution, and state roots agree again',
    },
    changeNative({ executionLags: false, stateRootsDiffer: false }),
  ),
]
