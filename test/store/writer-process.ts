import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { type Block } from '../../query/store/store.ts'
import { eventually } from '../support/eventually.ts'
import { expect } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { openDuckDbStore } from '../../query/store/duckdb/store.ts'
import { memoryStore } from '../support/memory-store.ts'
import { columnsOf, type Dice, IDENTITY, never, walked, WHOLE } from '../support/store-cases.ts'

const WRITER = fileURLToPath(new URL('../fixtures/bin/store-writer.mjs', import.meta.url))

type Change = { readonly append: readonly Block[] } | { readonly prune: number }

/** A process that opens a store and changes it on command. */
interface Writer {
  readonly pid: number
  /** Does not wait until it is done. */
  tell(change: Change): void
  /** Number of changes that it has acknowledged. */
  done(): number
  /** Its other output. */
  output(): string
  kill(): Promise<void>
  /** Sends nothing more and waits for its exit. */
  end(): Promise<void>
}

/** `before`: what runs node, as strace does. `again`: it tries again what is refused. */
export const startWriter = async (
  directory: string,
  before: readonly string[] = [],
  { again = false } = {},
): Promise<Writer> => {
  const refused = again ? 'again' : 'ends'
  const [command, ...args] = [...before, process.execPath, WRITER, directory, refused]
  const child = execa(command, args, { reject: false, buffer: false, forceKillAfterDelay: 5000 })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  // It may be killed while it receives a command.
  child.stdin.on('error', () => undefined)
  const said = (word: string): number => output.split(`${word}\n`).length - 1
  await eventually(
    () => ({ output, ended: child.exitCode }),
    () => said('open') > 0 || child.exitCode !== null || child.signalCode !== null,
    { every: 5 },
  )
  return {
    pid: child.pid ?? 0,
    tell: (change) => child.stdin.write(`${JSON.stringify(change)}\n`),
    done: () => said('done'),
    output: () => output,
    kill: async () => {
      child.kill('SIGKILL')
      await child
    },
    end: async () => {
      child.stdin.end()
      await child
    },
  }
}

export interface Left {
  readonly first: number
  readonly last: number
}

/** What lies there is what a chain has, from the first block to the last. */
export const expectWhole = async (directory: string, chain: readonly Block[]): Promise<Left | null> => {
  const store = await openDuckDbStore(directory, { identity: IDENTITY, clock: systemClock })
  try {
    const range = await store.range()
    if (range === null) return null
    const { first, last } = range
    const naive = memoryStore()
    await naive.append(chain.slice(first, last + 1))
    const expected = await naive.read({ ...WHOLE, from: first }, never())
    expect(await walked(store, { ...WHOLE, from: first })).toEqual({
      blocks: expected.blocks,
      columns: columnsOf(expected),
      next: last + 1,
    })
    expect(await store.size()).toMatchObject({ logs: expected.count, blocks: last - first + 1 })
    return { first, last }
  } finally {
    await store.close()
  }
}

/** Blocks are added in parts, and old ones forgotten now and then. */
export const changesFrom = (dice: Dice, chain: readonly Block[], left: Left | null): readonly Change[] => {
  const changes: Change[] = []
  for (let at = (left?.last ?? -1) + 1; at < chain.length;) {
    const size = 1 + dice(dice(4) === 0 ? 60 : 4)
    changes.push({ append: chain.slice(at, at + size) })
    at += size
    if (dice(6) === 0) changes.push({ prune: Math.max(1, at - 150) })
  }
  return changes
}

/** The smallest state that the acknowledged changes allow. */
export const leastOf = (changes: readonly Change[], left: Left | null): Left | null =>
  changes.reduce<Left | null>((before, change) => {
    if ('prune' in change)
      return before === null ? null : { ...before, first: Math.max(before.first, Math.min(change.prune, before.last)) }
    const last = change.append.at(-1)?.number ?? 0
    return { first: before?.first ?? change.append[0]?.number ?? 0, last }
  }, left)
