import type { Readable } from 'node:stream'
import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../core/clock.ts'
import { SourceError } from '../../core/errors.ts'
import { createExec } from '../../sources/exec.ts'
import { createExecWithTimeouts } from '../../sources/exec-with-timeouts.ts'
import { createReadOnlyCheckpoints } from '../../sources/checkpoint.ts'
import { openRecording } from '../../sources/recording.ts'
import { relive, type Relived } from './engine.ts'
import { openFile } from './file-source.ts'
import { openJournal } from './journal-source.ts'
import type { PastSource } from './source.ts'
import type { StandIns } from '../shared/stand-ins.ts'

interface Options extends StandIns {
  readonly config: Config
  readonly clock: Clock
  /** The search path for programs. */
  readonly path: string
  readonly signal: AbortSignal
  /** The file with the recording, or what is piped in; the journal of this host without either. */
  readonly file?: string | Readable
  /** Milliseconds since the epoch. */
  readonly since?: number
  readonly until?: number
  /** The labels of the services to look at; all that are watched without them. */
  readonly services?: readonly string[]
  readonly onProgress?: (at: number, entries: number) => void
}

export type Replayed = Relived & {
  /** Whether the node's own turns could be told from the others'. */
  readonly knowsOwn: boolean
  /** False where it was stopped before its end. */
  readonly isWhole: boolean
}

const A_DAY_MS = 24 * 3_600_000

/** Lets the past pass by the agent's collectors once more. Throws a SourceError where it cannot be read. */
export const replay = async (options: Options): Promise<Replayed> => {
  const { config, services = Object.keys(config.services.units) } = options
  const { signal } = options
  const source = await open(options)
  const ownKey = config.node.publicKey ?? (await rememberedKey(config.state.directory))
  const told = await relive({ ...options, source, ownKey, services: new Set(services) })
  if (told.entries === 0 && !signal.aborted) {
    throw new SourceError({
      doing: 'look back',
      happened: `there is no entry of the units of ${source.prefix} in that time`,
      advice: 'look at --since, --services and, where it is not found by itself, --prefix',
    })
  }
  return { ...told, knowsOwn: ownKey !== null, isWhole: !signal.aborted }
}

const open = async (options: Options): Promise<PastSource> => {
  const { config, clock, path, signal, file, since, until } = options
  const { prefix } = config
  if (file === undefined) {
    const exec = createExecWithTimeouts(options.exec ?? createExec({ clock, path }), clock)
    const now = clock.now()
    const stretch = { since: since ?? now - A_DAY_MS, until: Math.min(until ?? now, now) }
    return openJournal({ exec, path, prefix, ...stretch }, signal)
  }
  return openFile({
    prefix,
    recording:
      typeof file === 'string' ? openRecording(file) : { name: 'standard input', bytes: file },
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
  })
}

/** The agent that runs here may have learnt who the node is. */
const rememberedKey = async (directory: string): Promise<string | null> => {
  const found = await createReadOnlyCheckpoints(directory).open('derived').read()
  if (found.state !== 'saved' || typeof found.value !== 'object' || found.value === null)
    return null
  return 'key' in found.value && typeof found.value.key === 'string' ? found.value.key : null
}
