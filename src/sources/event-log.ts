import { appendFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import type { Event, News } from '../core/event.ts'
import { asError } from '../core/outcome.ts'
import { eventsIn, fileIn, linesOf, readText } from './event-file.ts'
import { makeDirectory } from './durable.ts'

/** The changes of state that the agent has seen, in a file of JSON lines that outlives it. */
export interface EventLog {
  /** Keeps it soon. Never throws and never holds up the caller. */
  add(news: News): void
  /** All that are kept, oldest first, once what an earlier agent has kept is read. */
  all(): Promise<readonly Event[]>
  /** Waits until everything that was added is written. */
  flush(): Promise<void>
}

interface Options {
  readonly directory: string
  /** How many are kept at most. */
  readonly keep: number
  /** Throws for a line that is none. */
  readonly parse: (line: string) => Event
  /** Hears once of each spell in which the file cannot be used; what is told goes on without it. */
  readonly complain: (error: Error) => void
}

const MAX_BYTES = 2 * 1024 * 1024
/** What is left after the oldest were dropped: seldom, since the whole file is then written anew. */
const LEFT = 0.75

export const createEventLog = ({ directory, keep, parse, complain }: Options): EventLog => {
  const file = fileIn(directory)
  const added: News[] = []
  const unwritten: Event[] = []
  /** By collector and subject, what was last said. */
  const states = new Map<string, string>()
  let events: Event[] = []
  let bytes = 0
  let isTorn = false
  let complained = false
  let loading: Promise<boolean> | undefined
  let draining: Promise<void> | undefined

  const attempt = async (work: () => Promise<void>): Promise<boolean> => {
    try {
      await work()
      complained = false
      return true
    } catch (error) {
      if (!complained) complain(asError(error))
      complained = true
      return false
    }
  }

  const load = (): Promise<boolean> =>
    (loading ??= attempt(async () => {
      const text = await readText(file)
      bytes = Buffer.byteLength(text)
      isTorn = text !== '' && !text.endsWith('\n')
      events = [...eventsIn(text, parse)]
      for (const event of events) states.set(keyOf(event), event.to)
    }))

  /** What it adds to what is known; undefined where that is nothing. */
  const take = (news: News): Event | undefined => {
    const { isFirstSight, ...told } = news
    const before = states.get(keyOf(news)) ?? null
    if (isFirstSight && before === news.to) return undefined
    states.set(keyOf(news), news.to)
    const id = (events.at(-1)?.id ?? 0) + 1
    const event = { id, ...told, from: isFirstSight ? before : news.from }
    events.push(event)
    return event
  }
  const takeAll = (): void => {
    for (const news of added.splice(0)) {
      const event = take(news)
      if (event) unwritten.push(event)
    }
  }

  const write = async (fresh: readonly Event[]): Promise<void> => {
    const text = `${isTorn ? '\n' : ''}${linesOf(fresh)}`
    await makeDirectory(directory, 0o750)
    await appendFile(file, text, { mode: 0o640 })
    isTorn = false
    bytes += Buffer.byteLength(text)
  }

  /** On a disk that is full a part may have been written: whole lines among it would come twice. */
  const dropTorn = async (): Promise<void> => {
    try {
      const { size } = await stat(file)
      isTorn ||= size < bytes || !(await load())
      if (!isTorn && size > bytes) await truncate(file, bytes)
    } catch {
      isTorn = true
    }
  }

  /** The newest in a new file, which takes the place of the old one at once. */
  const rotate = async (): Promise<void> => {
    events = withinBytes(events.slice(-Math.ceil(keep * LEFT)))
    const text = linesOf(events)
    const waiting = unwritten.length
    try {
      await writeFile(`${file}.new`, text, { mode: 0o640 })
      await rename(`${file}.new`, file)
    } catch (error) {
      await rm(`${file}.new`, { force: true })
      throw error
    }
    bytes = Buffer.byteLength(text)
    unwritten.splice(0, waiting)
    isTorn = false
  }

  const drain = async (): Promise<void> => {
    await load()
    for (;;) {
      takeAll()
      const fresh = unwritten.splice(0)
      if (fresh.length === 0) return
      const isWritten = await attempt(() => write(fresh))
      if (!isWritten) {
        // For the next try, with what comes then.
        unwritten.unshift(...fresh)
        unwritten.splice(0, unwritten.length - keep)
        await dropTorn()
      }
      if (events.length > keep || bytes > MAX_BYTES) await attempt(rotate)
      if (!isWritten) return
    }
  }
  const start = (): void => {
    draining ??= drain().then(() => {
      draining = undefined
      if (added.length > 0) start()
    })
  }

  return {
    add: (news) => {
      added.push(news)
      start()
    },
    all: async () => {
      await load()
      // A disk that is slow, or full, keeps nothing from whoever asks.
      takeAll()
      return events
    },
    flush: async () => {
      while (draining) await draining
    },
  }
}

const keyOf = ({ collector, subject }: Pick<Event, 'collector' | 'subject'>): string =>
  `${collector}\0${subject ?? ''}`

const withinBytes = (events: Event[]): Event[] => {
  let left = MAX_BYTES * LEFT
  const first = events.findLastIndex((event) => (left -= linesOf([event]).length) < 0)
  return events.slice(first + 1)
}
