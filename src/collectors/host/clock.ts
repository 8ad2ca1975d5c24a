import type { Context } from '../../core/clock.ts'
import { SourceError } from '../../core/errors.ts'
import { minute } from '../../core/units.ts'
import { sample, sampleIfKnown } from '../../core/metric.ts'
import { type ClockState, parseTracking, parseNtpSynchronized, parseTimesyncOffset } from '../../parsers/time-sync.ts'
import type { Exec } from '../../sources/exec.ts'
import { type HostCheck, createHostCheck, type CheckResult } from './host-check.ts'

interface ClockCheckOptions {
  readonly exec: Exec
  readonly timeout: number
}

/** The clock, from chrony; without chrony from systemd, less often, because each read starts a service. */
export const clockCheck = ({ exec, timeout }: ClockCheckOptions): HostCheck => {
  const systemd = createHostCheck({
    name: 'clock',
    timeout,
    every: minute,
    read: async ({ signal }) => resultOf(await readSystemd(exec, signal), 'systemd'),
  })
  return createHostCheck({
    name: 'clock',
    timeout,
    read: async (context) => {
      const tracked = await readChrony(exec, context)
      return tracked === null ? systemd.run(context) : resultOf(tracked, 'chrony')
    },
  })
}

const resultOf = ({ synchronized, aheadSeconds, isSourceLost }: ClockState, source: string): CheckResult => ({
  samples: [
    sample('chain_host_clock_synchronized', synchronized),
    ...sampleIfKnown('chain_host_clock_offset_seconds', aheadSeconds),
  ],
  state:
    isSourceLost === true
      ? `not synchronized: ${source} has had no response from its servers for hours`
      : `${synchronized ? 'synchronized' : 'not synchronized'} according to ${source}${
          synchronized && aheadSeconds === null ? ', offset unknown' : ''
        }`,
})

/** Null if chrony is not installed or not running. */
const readChrony = async (exec: Exec, { clock, signal }: Context): Promise<ClockState | null> => {
  const output = await exec
    .run({ command: 'chronyc', args: ['-c', 'tracking'], answers: [0, 1] }, signal)
    .catch(nullOnSourceError)
  return output === null || output.exitCode !== 0 ? null : parseTracking(output.stdout, clock.now())
}

const readSystemd = async (exec: Exec, signal: AbortSignal): Promise<ClockState> => {
  const args = ['show', '--property=NTPSynchronized']
  const synchronized = parseNtpSynchronized((await exec.run({ command: 'timedatectl', args }, signal)).stdout)
  // The offset is available only if systemd-timesyncd is the active time service.
  const status = await exec.run({ command: 'timedatectl', args: ['timesync-status'] }, signal).catch(nullOnSourceError)
  return {
    synchronized,
    aheadSeconds: status === null || !synchronized ? null : parseTimesyncOffset(status.stdout),
  }
}

const nullOnSourceError = (error: unknown): null => {
  if (error instanceof SourceError && !error.timeout) return null
  throw error
}
