import {
  bareDirective,
  basisPoints,
  type Directive,
  directive,
  duration,
  type Effect,
  peerCount,
} from '../scenario/directives.ts'

/** How it stands with what consensus tells in metrics of its own, and with what it tells there alone. */
export interface Native {
  /** Whether its own endpoint listens, as long as it runs. */
  readonly listens: boolean
  /** Since when its values have not changed; undefined while they change. */
  readonly frozenMs: number | undefined
  /** How long the OpenTelemetry collector goes on serving what it was last told. */
  readonly keptMs: number
  /** Undefined where it is as many as ever. */
  readonly peers: number | undefined
  readonly sessions: number | undefined
  readonly upstream: number
  /** In ten thousandths of the network's; 0 outside the active set. */
  readonly stakeBps: number
  readonly votes: boolean
  /** How late votes are; undefined where they come in time. */
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

/** What befalls the metrics of consensus, and what shows nowhere else. */
export const nativeDirectives: readonly Directive[] = [
  bareDirective(
    {
      subject: 'native',
      verb: 'freezes',
      meaning: "consensus' metrics keep the values that they have, wherever they are served",
    },
    changeNative((atMs) => ({ frozenMs: atMs })),
  ),
  bareDirective(
    { subject: 'native', verb: 'moves', meaning: "consensus' metrics are of now again" },
    changeNative({ frozenMs: undefined }),
  ),
  bareDirective(
    {
      subject: 'native',
      verb: 'vanishes',
      meaning: 'consensus serves no metrics itself: its port is closed',
    },
    changeNative({ listens: false }),
  ),
  bareDirective(
    { subject: 'native', verb: 'returns', meaning: 'consensus serves its metrics itself again' },
    changeNative({ listens: true }),
  ),
  directive(
    {
      subject: 'otelcol',
      verb: 'keeps',
      meaning: 'the OpenTelemetry collector serves for so long what it was last told',
    },
    duration,
    (keptMs) => changeNative({ keptMs }),
  ),
  directive(
    { subject: 'peers', verb: 'number', meaning: 'consensus has discovered so many peers' },
    peerCount,
    (peers) => changeNative({ peers }),
  ),
  directive(
    { subject: 'peers', verb: 'sessions', meaning: 'so many of the peers have a session' },
    peerCount,
    (sessions) => changeNative({ sessions }),
  ),
  directive(
    { subject: 'peers', verb: 'upstream', meaning: 'so many validators feed the node' },
    peerCount,
    (upstream) => changeNative({ upstream }),
  ),
  directive(
    {
      subject: 'stake',
      verb: 'is',
      meaning: "the node's share of the stake; with none it is out of the active set, and no voter",
    },
    basisPoints,
    (stakeBps) => changeNative({ stakeBps }),
  ),
  bareDirective(
    { subject: 'votes', verb: 'stop', meaning: 'the node follows the network and does not vote' },
    changeNative({ votes: false }),
  ),
  bareDirective(
    { subject: 'votes', verb: 'resume', meaning: 'the node votes again, and in time' },
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
      meaning: 'consensus has to wait for execution, once a second',
    },
    changeNative({ executionLags: true }),
  ),
  bareDirective(
    {
      subject: 'bft',
      verb: 'badroot',
      meaning: 'consensus gets proposals with another state root, one in five seconds',
    },
    changeNative({ stateRootsDiffer: true }),
  ),
  bareDirective(
    { subject: 'bft', verb: 'agrees', meaning: 'neither lag nor differing state roots any more' },
    changeNative({ executionLags: false, stateRootsDiffer: false }),
  ),
]
