import { constants } from 'node:fs'
import { join } from 'node:path'
import { asError, errorCode, ifMissing, SourceError } from '../core/errors.ts'
import { atStateFile, openRegular, readText, withFile } from '../core/files.ts'
import { LIMITS } from '../core/limits.ts'
import { type Event, eventAsJson, type NewEvent } from '../domain/event.ts'
import { makeDirectory, writeAtomically } from './durable.ts'

interface EventLogOptions {
  readonly directory: string
  readonly keep: number
  /** Throws if the line is not an event. */
  readonly parse: (line: string) => Event
  /** Called once for each period in which the file is unusable; events are then kept in memory only. */
  readonly complain: (error: Error) => void
}

const MAX_BYTES = LIMITS.state.eventsBytes
/** The share that is kept when old events are dropped. Rotation is rare, because it rewrites the complete file. */
const LEFT = 0.75

/** The state changes that the agent has observed, stored as JSON lines. */
export const createEventLog = ({ directory, keep, parse, complain }: EventLogOptions) => {
  const file = fileIn(directory)
  const added: NewEvent[] = []
  const unwritten: Event[] = []
  /** The last state by collector and subject. */
  const states = new Map<string, string>()
  let events: Event[] = []
  let bytes = 0
  let isTorn = false
  /** Without the events of the file, it is only appended to. */
  let isLoaded = false
  let complained = false
  let loading: Promise<unknown> | undefined
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

  /** Once: events that were added without those of the file have ids of their own. */
  const load = (): Promise<unknown> =>
    (loading ??= attempt(async () => {
      const text = await readText(file, LIMITS.state.fileBytes, atStateFile).catch(ifMissing(''))
      bytes = Buffer.byteLength(text)
      isTorn = text !== '' && !text.endsWith('\n')
      isLoaded = true
      events = [...eventsIn(text, parse)]
      for (const event of events) states.set(keyOf(event), event.to)
    }))

  /** The event to store; undefined if the state is unchanged since the last run. */
  const take = (news: NewEvent): Event | undefined => {
    const { isFirstSight, ...change } = news
    const before = states.get(keyOf(news)) ?? null
    if (isFirstSight && before === news.to) return undefined
    states.set(keyOf(news), news.to)
    const id = (events.at(-1)?.id ?? 0) + 1
    const event = { id, ...change, from: isFirstSight ? before : news.from }
    events.push(event)
    return event
  }
  const takeAll = (): void => {
    for (const news of added.splice(0)) {
      const event = take(news)
      if (event) unwritten.push(event)
    }
  }

  /** Appends what is new. A file with too much, or after a write that failed, is replaced by what is in memory. */
  const write = async (): Promise<void> => {
    const fresh = linesOf(unwritten.splice(0))
    const isFull = events.length > keep || bytes + Buffer.byteLength(fresh) > MAX_BYTES
    if (isFull) events = withinBytes(events.slice(-Math.ceil(keep * LEFT)))
    const isReplaced = isLoaded && (isTorn || isFull)
    const text = isReplaced ? linesOf(events) : `${isTorn ? '\n' : ''}${fresh}`
    // On a full disk a line may be partly written.
    isTorn = true
    await atStateFile(file, async () => {
      await makeDirectory(directory, 0o750)
      await (isReplaced ? writeAtomically(file, [text], { mode: 0o640 }) : append(file, text))
    })
    isTorn = false
    bytes = Buffer.byteLength(text) + (isReplaced ? 0 : bytes)
  }

  const drain = async (): Promise<void> => {
    await load()
    do takeAll()
    while (unwritten.length > 0 && (await attempt(write)))
  }
  const start = (): void => {
    draining ??= drain().then(() => {
      draining = undefined
      if (added.length > 0) start()
    })
  }

  return {
    /** Stores an event asynchronously. Never throws and never blocks the caller. */
    add: (news: NewEvent): void => {
      added.push(news)
      start()
    },
    /** All stored events, oldest first, after those of an earlier agent have been read. */
    all: async (): Promise<readonly Event[]> => {
      await load()
      // Include events that are not yet written: the disk may be slow or full.
      takeAll()
      return events
    },
    /** Waits until everything that was added is written. */
    flush: async (): Promise<void> => {
      while (draining) await draining
    },
  }
}

const append = (file: string, text: string): Promise<void> => {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT
  return withFile(openRegular(file, flags, 0o640), (handle) => handle.appendFile(text))
}

const keyOf = ({ collector, subject }: Pick<Event, 'collector' | 'subject'>): string => `${collector}\0${subject ?? ''}`

const withinBytes = (events: Event[]): Event[] => {
  let left = MAX_BYTES * LEFT
  const first = events.findLastIndex((event) => (left -= linesOf([event]).length) < 0)
  return events.slice(first + 1)
}

const fileIn = (directory: string): string => join(directory, 'events.jsonl')

/** The events stored by an agent that is not running. Throws a SourceError. */
export const readEventFile = async (directory: string, parse: (line: string) => Event): Promise<readonly Event[]> => {
  const doing = `read the stored events in ${fileIn(directory)}`
  try {
    return [...eventsIn(await readText(fileIn(directory), LIMITS.state.fileBytes), parse)]
  } catch (error) {
    const [happened, advice] =
      errorCode(error) === 'ENOENT'
        ? [
            'there is no such file, and the agent is not running',
            'start the agent, or set its configuration with --config',
          ]
        : [asError(error).message, "run this as root or as the agent's user"]
    throw new SourceError({ doing, happened, advice }, { cause: error })
  }
}

/** Parses the stored events. A line that was truncated when the agent was killed, or is invalid, is skipped. */
function* eventsIn(text: string, parse: (line: string) => Event): Generator<Event> {
  for (const line of text.split('\n')) {
    if (line === '') continue
    try {
      yield parse(line)
    } catch {
      // Skip an invalid line.
    }
  }
}

const linesOf = (events: readonly Event[]): string =>
  events.map((event) => `${JSON.stringify(eventAsJson(event))}\n`).join('')
