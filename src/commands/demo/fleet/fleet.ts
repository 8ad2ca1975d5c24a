import { setMaxListeners } from 'node:events'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Clock } from '../../../core/clock.ts'
import { createChain } from '../../../simulator/chain/chain.ts'
import { fateOf } from './fates.ts'
import { type Member, startMember } from './member.ts'
import { createSharedClock } from './shared-clock.ts'

interface Options {
  readonly size: number
  readonly prefix: string
  readonly clock: Clock
  readonly log: Logger
  readonly directory: string
  /** No more are started once it aborts. */
  readonly signal: AbortSignal
}

interface Fleet {
  readonly members: readonly Member[]
  stop(): Promise<void>
}

/** What a network has at least, so that a small fleet is no network of its own. */
const VALIDATORS = 20

/**
 * So many nodes of one network in this process: each with a simulated host, a fate and the whole agent,
 * but for the wires between the two.
 */
export const startFleet = async (options: Options): Promise<Fleet> => {
  const { size, directory, log, signal } = options
  const ended = new AbortController()
  const clock = createSharedClock(options.clock, ended.signal)
  // Each agent listens to the end of the process.
  setMaxListeners(size + 20, process)
  const chain = createChain(1, Math.max(VALIDATORS, size))
  const forksFromMs = clock.now()
  const members: Member[] = []
  for (let number = 1; number <= size && !signal.aborted; number += 1) {
    const name = nameOf(number)
    const fate = fateOf(number)
    const of = { name, fate, index: fate.isTwin ? 0 : number - 1 }
    const own = { directory: join(directory, name), log: log.child({ node: name }) }
    members.push(await startMember({ ...options, ...of, ...own, clock, chain, forksFromMs }))
  }
  return {
    members,
    stop: async () => {
      await Promise.all(members.map(async (member) => member.stop()))
      ended.abort()
    },
  }
}

/** node-001: names of up to 999 nodes are in order when they are sorted as text. */
export const nameOf = (number: number): string => `node-${String(number).padStart(3, '0')}`
