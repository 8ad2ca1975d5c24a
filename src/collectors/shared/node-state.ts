import type { Heartbeat } from '../../parsers/heartbeat.ts'
import type { ReadPrefix } from '../../sources/prefix.ts'
import { widen } from '../../core/widen.ts'
import { NO_UNIT_LOGS, type UnitLogs } from './unit-logs.ts'

/** Values that one collector reads and others use. A reload of the configuration keeps them. */

export type MainPids = ReturnType<typeof createMainPids>

/**
 * The main processes of the services, from the last poll of systemd: service → PID. A service that is not running is
 * absent. Empty after a failed poll: the kernel reuses PIDs.
 */
export const createMainPids = () => ({ current: widen<ReadonlyMap<string, number>>(new Map()) })

/** The node's secp public key, from the configuration or from the first collector that reads it. */
export type OwnKey = ReturnType<typeof createOwnKey>

export const createOwnKey = (configured: string | null) => {
  let key = configured
  return {
    /** 66 hex digits in lower case; null while it is unknown. */
    get: (): string | null => key,
    /** Sets a key that the node reported. A configured key is kept. */
    set: (reported: string | null): void => {
      if (configured === null && reported !== null) key = reported.replace(/^0x/, '').toLowerCase()
    },
  }
}

export type OwnBlock = ReturnType<typeof createOwnBlock>

/** The newest finalized block that this node led, from the ledger stream; null until one is finalized. */
export const createOwnBlock = () => ({ height: widen<bigint | null>(null) })

/** The last heartbeat of the watched node, and when it was received. */
export interface ReceivedHeartbeat {
  /** Milliseconds since the epoch, by the clock of this host then. */
  readonly at: number
  /** Milliseconds on the monotonic clock. */
  readonly elapsed: number
  readonly heartbeat: Heartbeat
}

export type HeartbeatInbox = ReturnType<typeof createHeartbeatInbox>

/** Where the listener puts heartbeats, and the collector finds them: open while it runs. */
export const createHeartbeatInbox = () => ({ isOpen: widen(false), latest: widen<ReceivedHeartbeat | null>(null) })

/** Replaces `{prefix}` in the names of systemd units with the name prefix of the node. */
export type UnitNames = ReturnType<typeof createUnitNames>

export const createUnitNames = (readPrefix: ReadPrefix, unitLogs: UnitLogs = NO_UNIT_LOGS) => ({
  one: async (template: string, signal: AbortSignal) => fill(template, (await readPrefix(signal)).word),
  /** Arguments of journalctl that select the entries of these units, including those of systemd about them. */
  match: async (templates: readonly string[], signal: AbortSignal): Promise<readonly string[]> => {
    const { word } = await readPrefix(signal)
    const units = templates.map((template) => fill(template, word))
    return [...(await unitLogs.scope(units, signal)), ...units.flatMap((unit) => ['-u', unit])]
  },
  /** Returns the same keys with the resolved names, in the same order. */
  all: async (templates: Readonly<Record<string, string>>, signal: AbortSignal) => {
    const { word } = await readPrefix(signal)
    return new Map(Object.entries(templates).map(([key, template]) => [key, fill(template, word)]))
  },
})

const fill = (template: string, word: string): string => template.replaceAll('{prefix}', word)
