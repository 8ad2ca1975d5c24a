import { createUnitNames } from '../../collectors/shared/unit-names.ts'
import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../core/clock.ts'
import { createExec, type Exec } from '../../sources/exec.ts'
import { createPrefix } from '../../sources/prefix.ts'
import { openRecording, type Recording } from '../../sources/recording.ts'
import { createFold } from './fold.ts'
import { foldJournal } from './from-journal.ts'
import { foldRecording } from './from-recording.ts'
import { packageLine } from './package.ts'
import { type Problem, problemOf } from './problem.ts'
import { type MonlogReport, reportOf } from './report.ts'
import { LONGEST_MS, type Since, stretchTo } from './stretch.ts'
import type { StandIns } from '../shared/stand-ins.ts'

interface Options extends StandIns {
  readonly config: Pick<Config, 'prefix' | 'consensus' | 'version' | 'node'>
  readonly clock: Clock
  /** The search path for programs. */
  readonly path: string
  readonly signal: AbortSignal
  /** The newest minute without it. */
  readonly since?: Since | undefined
  /** Milliseconds since the epoch; now, or the newest line of a file, without it. */
  readonly until?: number | undefined
  /** A file in the place of the journal. */
  readonly recording?: string | Recording | undefined
  /** Hears how many lines were read, now and then. */
  readonly onLines: (lines: number) => void
}

/** The 60-second analysis of the consensus log. What cannot be read is told in the report. */
export const analyseLog = async (options: Options): Promise<MonlogReport> => {
  const { recording, clock, path } = options
  if (recording !== undefined) {
    const file = typeof recording === 'string' ? openRecording(recording) : recording
    return analyseRecording(options, file)
  }
  const exec = options.exec ?? createExec({ clock, path })
  try {
    return await analyseJournal(options, exec)
  } finally {
    exec.killAll()
  }
}

const NOTHING = { newest: [], unreadable: 0 } as const

const analyseJournal = async (options: Options, exec: Exec): Promise<MonlogReport> => {
  const { config, clock, path, signal, since, until = clock.now(), onLines } = options
  const { timeout } = config.consensus
  const stretch = stretchTo(until, since)
  const fold = createFold(stretch.minutes)
  const readPrefix = createPrefix({ exec, path, configured: config.prefix })
  const { value: unit, problem } = await attempt(() =>
    createUnitNames(readPrefix).one(config.consensus.unit, signal),
  )
  const ownKey = config.node.publicKey
  const facts = { source: 'journal', unit: unit ?? null, ownKey } as const
  if (unit === undefined) {
    const folded = fold.finish(stretch)
    return reportOf({ ...facts, package: null, problem, stretch, folded, ...NOTHING })
  }
  const [installed, read] = await Promise.all([
    packageLine(config.version.package ?? (await readPrefix(signal)).word, {
      exec,
      context: { clock, signal },
      timeout,
    }),
    attempt(() => foldJournal({ exec, clock, signal, timeout, unit, onLines }, stretch, fold)),
  ])
  const folded = fold.finish(stretch)
  const around = read.value ?? NOTHING
  return reportOf({
    ...facts,
    package: installed,
    problem: read.problem,
    stretch,
    folded,
    ...around,
  })
}

/** The window ends with the newest line, and only the reader of the last one knows which that is. */
const analyseRecording = async (options: Options, recording: Recording): Promise<MonlogReport> => {
  const { config, since, until, onLines } = options
  const isOpen = since !== undefined && 'at' in since
  const fold = createFold(stretchTo(0, isOpen ? { ago: LONGEST_MS } : since).minutes)
  const unit = config.consensus.unit
  const { value, problem } = await attempt(() =>
    foldRecording({ recording, unit, until, onLines }, fold),
  )
  const end = until ?? (value?.last === undefined ? 0 : value.last + 1000)
  const stretch = stretchTo(end, since)
  const { newest, unreadable } = value ?? NOTHING
  const parts = { stretch, folded: fold.finish(stretch), newest, unreadable, problem }
  const ownKey = config.node.publicKey
  const facts = { source: 'file', unit: null, package: null, readFrom: value?.first } as const
  return reportOf({ ...facts, ...parts, ownKey })
}

interface Attempt<T> {
  readonly value: T | undefined
  readonly problem: Problem | null
}

const attempt = async <T>(act: () => Promise<T>): Promise<Attempt<T>> => {
  try {
    return { value: await act(), problem: null }
  } catch (error) {
    return { value: undefined, problem: problemOf(error) }
  }
}
