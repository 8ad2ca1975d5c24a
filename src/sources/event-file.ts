import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SourceError } from '../core/errors.ts'
import { type Event, eventAsJson } from '../core/event.ts'
import { asError } from '../core/outcome.ts'

export const fileIn = (directory: string): string => join(directory, 'events.jsonl')

/** What an agent that does not run any more has kept. Throws a SourceError. */
export const readEventFile = async (
  directory: string,
  parse: (line: string) => Event,
): Promise<readonly Event[]> => {
  const doing = `read the changes that an agent has kept in ${fileIn(directory)}`
  try {
    return [...eventsIn(await readFile(fileIn(directory), 'utf8'), parse)]
  } catch (error) {
    const { message } = asError(error)
    const isMissing = message.includes('ENOENT')
    throw new SourceError(
      {
        doing,
        happened: isMissing ? 'there is no such file, and no agent runs' : message,
        advice: isMissing
          ? 'start the agent, or name its configuration with --config'
          : "run this as root or as the agent's user",
      },
      { cause: error },
    )
  }
}

/** Nothing where there is none yet. */
export const readText = async (file: string): Promise<string> => {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const cause = asError(error)
    if ('code' in cause && cause.code === 'ENOENT') return ''
    throw cause
  }
}

/** A line that was torn when the agent was killed, or is none, is passed over. */
export function* eventsIn(text: string, parse: (line: string) => Event): Generator<Event> {
  for (const line of text.split('\n')) {
    if (line === '') continue
    try {
      yield parse(line)
    } catch {
      // It tells nothing that could be told.
    }
  }
}

export const linesOf = (events: readonly Event[]): string =>
  events.map((event) => `${JSON.stringify(eventAsJson(event))}\n`).join('')
