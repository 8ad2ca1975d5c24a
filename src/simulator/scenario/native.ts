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
