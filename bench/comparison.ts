import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { eventually } from '../test/support/eventually.ts'
import { installed } from '../test/support/installed.ts'
import { must, start } from '../test/support/programs.ts'

/** What one program used in one round. */
export interface Take {
  /** Name and unit → value. */
  readonly figures: Readonly<Record<string, number>>
  /** What the program computed: equal for all programs that have one, and in all rounds. */
  readonly result?: string
}

/** The programs of a comparison, ready to be measured. */
export interface Lineup {
  /** Names with versions; those of this project start with chain-agent. The first is compared with each peer, or a peer with each. */
  readonly programs: readonly string[]
  /** Peers that are not measured, and why. */
  readonly skipped?: readonly Skipped[]
  /** Measures each program once; in the order of `programs`. */
  round(): Promise<readonly Take[]>
  /** Whether no further round is needed; without it, the rounds of the options are enough. */
  hasEnough?(rounds: readonly (readonly Take[])[]): boolean
}

export interface Skipped {
  readonly name: string
  readonly reason: string
}

/** A release, and the commit that it was built from. */
export interface ReleaseCommit {
  readonly version: string
  readonly commit: string
}

export interface Setup {
  /** Number of logs in a history. */
  readonly logs: number
  /** The last release, to be measured next to this checkout; undefined if the report has none. */
  readonly release: ReleaseCommit | undefined
  /** Whether this checkout is to be compared with the last release, which therefore must be measured. */
  readonly check: boolean
  /** A new folder in the checkout, because /tmp may be in memory. */
  readonly folder: string
  /** `action` runs at the end, also after a failure; the last one first. */
  readonly defer: Cleanup['defer']
}

export interface Comparison {
  /** Value of --only. */
  readonly name: string
  readonly title: string
  /** What is equal for all programs, and what the figures contain. */
  readonly fairness: string
  open(setup: Setup): Promise<Lineup>
}

/** What removes processes and files of a comparison. */
export const createCleanup = () => {
  let actions: (() => Promise<unknown>)[] = []
  let running: Promise<void> = Promise.resolve()
  return {
    defer: (action: () => Promise<unknown>): void => void actions.push(action),
    /** Also waits for a call that is in progress. */
    run: async (): Promise<void> => {
      const todo = actions.toReversed()
      actions = []
      running = running.then(async () => {
        for (const action of todo) await action()
      })
      await running
    },
  }
}

export type Cleanup = ReturnType<typeof createCleanup>

/** The machine lacks something without which nothing can be compared. */
export class Unavailable extends Error {}

const HERE = import.meta.dirname
export const ROOT = join(HERE, '..')
export const MAIN = join(ROOT, 'dist/main.js')

const takeSchema = z.object({ figures: z.record(z.string(), z.number()), result: z.string().exactOptional() })

/** Runs a script of this folder that prints a `Take`. */
export const take = async (args: readonly string[], node = process.execPath): Promise<Take> =>
  takeSchema.parse(JSON.parse(await must(node, args, { cwd: HERE, timeout: 3_600_000 })))

/** One after the other, so that none takes CPU from another. */
export const inTurn = async <T>(items: readonly T[], measure: (item: T) => Promise<Take>): Promise<readonly Take[]> => {
  const takes: Take[] = []
  for (const item of items) takes.push(await measure(item))
  return takes
}

/** Starts a server of this folder, and returns the URL that it prints. */
export const serve = async (args: readonly string[], { defer }: Setup): Promise<string> => {
  const server = start(process.execPath, args, { cwd: HERE })
  defer(async () => server.stop())
  return (await eventually(server.output, (output) => output.endsWith('\n'))).trim()
}

/** Installs the packages of package.json; returns why that is impossible. */
export const installPeers = async (): Promise<string | undefined> => {
  try {
    // better-sqlite3 requires a later Node.js, which is one of the packages.
    await installed(HERE, ['--engine-strict=false'])
    return undefined
  } catch (error) {
    return `npm ci in bench/ failed: ${npmReason(error)}`
  }
}

/** The first two lines of an error of npm; of another program, the last one. */
export const npmReason = (error: unknown): string => {
  const [code = '', first = ''] = [...String(error).matchAll(/^npm error (.*\S.*)$/gm)].map(([, text]) => text)
  return code === '' ? reasonOf(error) : `${code}: ${first}`
}

const packageSchema = z.object({ version: z.string() })

/** A package and its version, of this folder or of the program. */
export const packageName = async (name: string, folder = HERE): Promise<string> => {
  const text = await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8')
  return `${name} ${packageSchema.parse(JSON.parse(text)).version}`
}

/** The last line of an error: what a program reported before it failed. */
export const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).trim().split('\n').at(-1) ?? ''

export const median = (numbers: readonly number[]): number => {
  const sorted = numbers.toSorted((one, other) => one - other)
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]]
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2
}

/** The environment in the unit of the agent that a checkout installs. */
export const agentEnvironment = async (root = ROOT): Promise<Readonly<Record<string, string>>> => {
  const unit = await readFile(join(root, 'deploy/chain-agent.service'), 'utf8')
  const variables = [...unit.matchAll(/^Environment="?([^"=]+)=([^"\n]*)"?$/gm)]
  if (variables.length === 0) throw new Error('deploy/chain-agent.service has no Environment=')
  return Object.fromEntries(variables.map(([, name = '', value = '']) => [name, value]))
}
