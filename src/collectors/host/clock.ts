import type { Context } from '../../core/collector.ts'
import { SourceError } from '../../core/errors.ts'
import { minute } from '../../core/units.ts'
import { sample, sampleIfKnown } from '../../core/metric.ts'
import {
  type ClockState,
  parseTracking,
  parseNtpSynchronized,
  parseTimesyncOffset,
} from '../../parsers/time-sync.ts'
import type { Exec } from '../../sources/exec.ts'
import { type Aspect, createAspect, type Sight } from './aspect.ts'

interface Parts {
  readonly exec: Exec
  readonly timeout: number
}

/** The clock: chrony tells most; without it systemd is asked, less often, for it starts a service to answer. */
export const clockAspect = ({ exec, timeout }: Parts): Aspect => {
  const systemd = createAspect({
    name: 'clock',
    timeout,
    every: minute,
    read: async ({ signal }) => sightOf(await askSystemd(exec, signal), 'systemd'),
  })
  return createAspect({
    name: 'clock',
    timeout,
    read: async (context) => {
      const tracked = await askChrony(exec, context)
      return tracked === null ? systemd.look(context) : sightOf(tracked, 'chrony')
    },
  })
}

const sightOf = ({ synchronized, aheadSeconds, isSourceLost }: ClockState, by: string): Sight => ({
  samples: [
    sample('chain_host_clock_synchronized', synchronized),
    ...sampleIfKnown('chain_host_clock_offset_seconds', aheadSeconds),
  ],
  state:
    isSourceLost === true
      ? `not kept: ${by} has had no answer of its servers for hours`
      : `${synchronized ? 'kept' : 'not kept'}, as ${by} tells${
          synchronized && aheadSeconds === null ? ', though not how exactly' : ''
        }`,
})

/** Null where there is no chrony, or none that runs. */
const askChrony = async (exec: Exec, { clock, signal }: Context): Promise<ClockState | null> => {
  const output = await exec
    .run({ command: 'chronyc', args: ['-c', 'tracking'], answers: [0, 1] }, signal)
    .catch(nullIfSource)
  return output === null || output.exitCode !== 0 ? null : parseTracking(output.stdout, clock.now())
}

const askSystemd = async (exec: Exec, signal: AbortSignal): Promise<ClockState> => {
  const args = ['show', '--property=NTPSynchronized']
  const synchronized = parseNtpSynchronized(
    (await exec.run({ command: 'timedatectl', args }, signal)).stdout,
  )
  // Only where systemd-timesyncd is the service that keeps the clock is there an offset to be had.
  const told = await exec
    .run({ command: 'timedatectl', args: ['timesync-status'] }, signal)
    .catch(nullIfSource)
  return {
    synchronized,
    aheadSeconds: told === null || !synchronized ? null : parseTimesyncOffset(told.stdout),
  }
}

const nullIfSource = (error: unknown): null => {
  if (error instanceof SourceError && !error.timeout) return null
  throw error
}
