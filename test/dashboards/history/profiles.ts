/** Events in the history of a node. */
export type Trouble =
  | 'outage'
  | 'silence'
  | 'stall'
  | 'crash'
  | 'statesync'
  | 'timeouts'
  | 'slowness'
  | 'network'
  | 'maintenance'

interface Happening {
  readonly what: Trouble
  /** Hours before (or, if negative, after) the reference time of the history. */
  readonly from: number
  readonly to: number
}

/** A node of the history: its properties and events. */
export interface NodeProfile {
  readonly name: string
  readonly isValidator: boolean
  /** The node whose key it signs with, if it is not its own. */
  readonly keyOf?: string
  /** Used share of the database at the start and the end of the six hours. */
  readonly storage: readonly [from: number, to: number]
  /** Hours before now at which the newer release was installed; null if it is not installed. */
  readonly upgraded: number | null
  readonly happenings: readonly Happening[]
}

const FOREVER = -24

/**
 * Eight nodes. The first has past incidents and is healthy now, like most nodes; each of the others has a different
 * current incident, so that every panel about incidents has data.
 */
export const PROFILES: readonly NodeProfile[] = [
  {
    name: 'validator-1',
    isValidator: true,
    storage: [0.52, 0.525],
    upgraded: 3,
    happenings: [
      // An upgrade: consensus and execution are stopped for some seconds.
      { what: 'outage', from: 3.005, to: 2.995 },
      { what: 'maintenance', from: 3.2, to: 2.8 },
      { what: 'stall', from: 1.6, to: 1.57 },
      { what: 'timeouts', from: 4.6, to: 4.4 },
      { what: 'slowness', from: 0.9, to: 0.7 },
      { what: 'outage', from: 52, to: 51.2 },
    ],
  },
  {
    name: 'validator-2',
    isValidator: true,
    storage: [0.61, 0.615],
    upgraded: 26,
    happenings: [
      { what: 'timeouts', from: 2, to: FOREVER },
      { what: 'outage', from: 26.1, to: 26 },
      { what: 'stall', from: 5.2, to: 5.1 },
      { what: 'stall', from: 90, to: 89 },
    ],
  },
  {
    name: 'fullnode-1',
    isValidator: false,
    // A spare node with the key of the validator that it was copied from.
    keyOf: 'validator-2',
    storage: [0.74, 0.87],
    upgraded: null,
    happenings: [{ what: 'slowness', from: 1, to: FOREVER }],
  },
  {
    name: 'fullnode-2',
    isValidator: false,
    storage: [0.33, 0.331],
    upgraded: 27,
    happenings: [
      { what: 'outage', from: 1.5, to: 0.6 },
      { what: 'statesync', from: 0.6, to: FOREVER },
    ],
  },
  {
    name: 'fullnode-3',
    isValidator: false,
    storage: [0.45, 0.46],
    upgraded: 50,
    happenings: [{ what: 'silence', from: 0.4, to: FOREVER }],
  },
  {
    name: 'fullnode-4',
    isValidator: false,
    storage: [0.41, 0.42],
    upgraded: 51,
    happenings: [
      { what: 'crash', from: 0.5, to: FOREVER },
      { what: 'maintenance', from: 0.25, to: FOREVER },
    ],
  },
  {
    name: 'fullnode-5',
    isValidator: false,
    storage: [0.48, 0.49],
    upgraded: 51,
    happenings: [{ what: 'stall', from: 0.1, to: FOREVER }],
  },
  {
    name: 'fullnode-6',
    isValidator: false,
    storage: [0.5, 0.51],
    upgraded: 51,
    happenings: [{ what: 'crash', from: 0.2, to: FOREVER }],
  },
]

/** Rounds of all validators time out for a quarter of an hour. */
export const NETWORK_EVENTS: readonly Happening[] = [{ what: 'network', from: 4, to: 3.75 }]
