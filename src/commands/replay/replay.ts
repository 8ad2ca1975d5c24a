import type { Readable } from 'node:stream'
import type { Config } from '../../config/schema.ts'
import { SourceError } from '../../core/errors.ts'
import { createExec, createExecWithTimeouts } from '../../sources/exec.ts'
import { openRecording } from '../../sources/journal-range.ts'
import { replayEntries, type ReplayResult } from './engine.ts'
import { savedKey } from '../shared/own-key.ts'
import { openFile, openJournal, type PastSource } from './past-source.ts'
import type { SourceContext } from '../../terminal/io.ts'

interface ReplayOptions extends SourceContext {
  readonly config: Config
  /** The recording: a path or a stream. Default: the journal of this host. */
  readonly file?: string | Readable
  /** Milliseconds since the epoch. */
  readonly since?: number
  readonly until?: number
  /** The labels of the services to read. Default: all configured ones. */
  readonly services?: readonly string[]
  readonly onProgress?: (at: number, entries: number) => void
}

export type ReplayReport = ReplayResult & {
  /** Whether the node's own key is known, so that its own rounds can be identified. */
  readonly isOwnKeyKnown: boolean
  /** False if it was interrupted. */
  readonly isWhole: boolean
}

const DEFAULT_SPAN_MS = 24 * 3_600_000

/** Replays past entries through the agent's collectors. Throws a SourceError if they cannot be read. */
export const replay = async (options: ReplayOptions): Promise<ReplayReport> => {
  const { config, services = Object.keys(config.services.units) } = options
  const { signal } = options
  const source = await open(options)
  const ownKey = config.node.publicKey ?? (await savedKey(config.state.directory))
  const result = await replayEntries({ ...options, source, ownKey, services: new Set(services) })
  if (result.entries === 0 && !signal.aborted) {
    throw new SourceError({
      doing: 'replay the journal',
      happened: `there is no entry of the ${source.prefix} units in that time range`,
      advice: 'check --since, --services and, if the prefix is not detected, --prefix',
    })
  }
  return { ...result, isOwnKeyKnown: ownKey !== null, isWhole: !signal.aborted }
}

const open = async (options: ReplayOptions): Promise<PastSource> => {
  const { config, clock, path, signal, file, since, until } = options
  const { prefix } = config
  if (file === undefined) {
    const exec = createExecWithTimeouts(options.exec ?? createExec({ clock, path }), clock)
    const now = clock.now()
    const range = { since: since ?? now - DEFAULT_SPAN_MS, until: Math.min(until ?? now, now) }
    return openJournal({ exec, path, prefix, ...range }, signal)
  }
  return openFile({
    prefix,
    recording: typeof file === 'string' ? openRecording(file, signal) : { name: 'standard input', bytes: file },
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
  })
}
