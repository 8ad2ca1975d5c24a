import { readFileSync } from 'node:fs'

/** CPU of all threads and elapsed time, in seconds, and what `work` returned. */
export const measured = async (work) => {
  const [began, used] = [performance.now(), process.cpuUsage()]
  const value = await work()
  const { user, system } = process.cpuUsage(used)
  return { value, cpu: (user + system) / 1e6, elapsed: (performance.now() - began) / 1000 }
}

/** Peak resident memory of this process in MiB. `maxRSS` of getrusage contains the peak of the process that forked this one. */
export const peakMiB = () => Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024
