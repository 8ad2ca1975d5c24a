import { basisPoints, duration, peerCount } from './arguments.ts'
import type { Native } from './native.ts'
import { bare, type Effect, type Phrase, phrase } from './phrase.ts'

const native =
  (change: Partial<Native> | ((atMs: number) => Partial<Native>)): Effect =>
  (condition, atMs) => ({
    ...condition,
    native: {
      ...condition.native,
      ...(typeof change === 'function' ? change(atMs) : change),
    },
  })

/** What befalls the metrics of consensus, and what shows nowhere else. */
export const nativePhrases: readonly Phrase[] = [
  bare(
    {
      subject: 'native',
      verb: 'freezes',
      means: "consensus' metrics keep the values that they have, wherever they are served",
    },
    native((atMs) => ({ frozenMs: atMs })),
  ),
  bare(
    { subject: 'native', verb: 'moves', means: "consensus' metrics are of now again" },
    native({ frozenMs: undefined }),
  ),
  bare(
    {
      subject: 'native',
      verb: 'vanishes',
      means: 'consensus serves no metrics itself: its port is closed',
    },
    native({ listens: false }),
  ),
  bare(
    { subject: 'native', verb: 'returns', means: 'consensus serves its metrics itself again' },
    native({ listens: true }),
  ),
  phrase(
    {
      subject: 'otelcol',
      verb: 'keeps',
      means: 'the OpenTelemetry collector serves for so long what it was last told',
    },
    duration,
    (keptMs) => native({ keptMs }),
  ),
  phrase(
    { subject: 'peers', verb: 'number', means: 'consensus has discovered so many peers' },
    peerCount,
    (peers) => native({ peers }),
  ),
  phrase(
    { subject: 'peers', verb: 'sessions', means: 'so many of the peers have a session' },
    peerCount,
    (sessions) => native({ sessions }),
  ),
  phrase(
    { subject: 'peers', verb: 'upstream', means: 'so many validators feed the node' },
    peerCount,
    (upstream) => native({ upstream }),
  ),
  phrase(
    {
      subject: 'stake',
      verb: 'is',
      means: "the node's share of the stake; with none it is out of the active set, and no voter",
    },
    basisPoints,
    (stakeBps) => native({ stakeBps }),
  ),
  bare(
    { subject: 'votes', verb: 'stop', means: 'the node follows the network and does not vote' },
    native({ votes: false }),
  ),
  bare(
    { subject: 'votes', verb: 'resume', means: 'the node votes again, and in time' },
    native({ votes: true, voteDelayMs: undefined }),
  ),
  phrase(
    { subject: 'votes', verb: 'late', means: 'one vote in a hundred takes that long, or longer' },
    duration,
    (voteDelayMs) => native({ voteDelayMs }),
  ),
  bare(
    {
      subject: 'bft',
      verb: 'lags',
      means: 'consensus has to wait for execution, once a second',
    },
    native({ executionLags: true }),
  ),
  bare(
    {
      subject: 'bft',
      verb: 'badroot',
      means: 'consensus gets proposals with another state root, one in five seconds',
    },
    native({ stateRootsDiffer: true }),
  ),
  bare(
    { subject: 'bft', verb: 'agrees', means: 'neither lag nor differing state roots any more' },
    native({ executionLags: false, stateRootsDiffer: false }),
  ),
]
