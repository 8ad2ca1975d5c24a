import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import type { Block } from '../../src/query/store/store.ts'
import { eventually } from './eventually.ts'

const WRITER = fileURLToPath(new URL('../fixtures/bin/store-writer.mjs', import.meta.url))

export type Change = { readonly append: readonly Block[] } | { readonly prune: number }

/** A process that has a store open and changes it as it is told. */
export interface Writer {
  readonly pid: number
  /** Does not wait until it is done. */
  tell(change: Change): void
  /** How many changes it has said to be done. */
  done(): number
  /** What else it said. */
  output(): string
  kill(): Promise<void>
  /** Until it ends of itself: nothing more is told to it. */
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
  // It may be killed while it is told something.
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
