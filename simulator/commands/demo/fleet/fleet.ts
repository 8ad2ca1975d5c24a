import { setMaxListeners } from 'node:events'
import { mkdtemp, readdir, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { errorCode } from '../../../../src/core/errors.ts'
import type { Clock } from '../../../../src/core/clock.ts'
import { createSleepers } from '../../../../src/core/virtual-clock.ts'
import { createChain } from '../../../chain.ts'
import { type Member, startMember } from './member.ts'
import { profileOf } from './profiles.ts'

interface FleetOptions {
  readonly size: number
  readonly prefix: string
  readonly clock: Clock
  readonly log: Logger
  readonly directory: string
  /** No more nodes are started once it aborts. */
  readonly signal: AbortSignal
}

interface Fleet {
  readonly members: readonly Member[]
  stop(): Promise<void>
}

/** The minimum for a network, so that a small fleet is not the whole network. */
const VALIDATORS = 20

/**
 * Starts nodes of one network in this process, each with a simulated host, a profile and a complete agent. The agents
 * call their nodes as functions, without processes and connections.
 */
export const startFleet = async (options: FleetOptions): Promise<Fleet> => {
  const { size, directory, log, signal } = options
  const ended = new AbortController()
  const clock = createSharedClock(options.clock, ended.signal)
  // Each agent listens for the exit of the process.
  setMaxListeners(size + 20, process)
  const chain = createChain(1, Math.max(VALIDATORS, size))
  const forksFromMs = clock.now()
  const members: Member[] = []
  for (let number = 1; number <= size && !signal.aborted; number += 1) {
    const name = nameOf(number)
    const profile = profileOf(number)
    const of = { name, profile, index: profile.isTwin ? 0 : number - 1 }
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

/** node-001: the names of up to 999 nodes sort as text. */
export const nameOf = (number: number): string => `node-${String(number).padStart(3, '0')}`

const MEMORY = '/dev/shm'
const BYTES_PER_NODE = 8e6

/** /dev/shm if it has room: a fleet writes small files continuously, and a disk takes seconds to remove them. */
export const chooseParent = async (size: number): Promise<string> => {
  const free = await statfs(MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  )
  return free > size * BYTES_PER_NODE ? MEMORY : tmpdir()
}

/** Creates the directory for the files of the fleet of this process. */
export const makeDirectory = async (parent: string): Promise<string> =>
  await mkdtemp(join(parent, `chain-fleet-${process.pid}-`))

/** Removes directories of killed fleets: in /dev/shm they use memory. */
export const removeLeftovers = async (parents: readonly string[] = [MEMORY, tmpdir()]) => {
  for (const parent of new Set(parents)) {
    const names = await readdir(parent).catch(() => [])
    const left = names.filter((name) => {
      const [, pid] = /^chain-fleet-(\d+)-[A-Za-z0-9]{6}$/.exec(name) ?? []
      return pid !== undefined && !isAlive(Number(pid))
    })
    // Directories of other users cannot be removed.
    for (const name of left) await rm(join(parent, name), { recursive: true, force: true }).catch(() => undefined)
  }
}

/** Whether the process exists; EPERM means that it exists and belongs to another user. */
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return errorCode(error) !== 'ESRCH'
  }
}

/** The shortest sleep in a fleet, in milliseconds. */
const TICK_MS = 25

/**
 * One timer for all sleepers, until the signal aborts: a fleet has thousands of them, most of which are deadlines that
 * are aborted, and aborting a timer of Node.js costs an error with its stack. Sleep ends at the first tick after its
 * time.
 */
export const createSharedClock = (clock: Clock, signal: AbortSignal): Clock => {
  const { sleep, wake } = createSleepers(() => clock.elapsed())
  const tick = async (): Promise<void> => {
    while (!signal.aborted) {
      await clock.sleep(TICK_MS, signal)
      wake()
    }
  }
  void tick()
  return {
    now: () => clock.now(),
    elapsed: () => clock.elapsed(),
    sleep,
  }
}
