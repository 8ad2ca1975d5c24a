import { readFile } from 'node:fs/promises'
import type { Io } from '../../terminal/io.ts'
import { asError } from '../../core/errors.ts'
import { createExec, createExecWithTimeouts } from '../../sources/exec.ts'

interface NotifyOptions extends Pick<Io, 'clock' | 'env' | 'signal'> {
  /** The search path for programs. */
  readonly path: string
  readonly complain: (message: string) => void
}

/** The time that this process may be silent on a host without free CPU, in microseconds. */
const STARVED_USEC = 300_000_000

/** Milliseconds that the main thread has waited for a CPU. */
const waitedForCpu = async (): Promise<number> => {
  const text = await readFile('/proc/self/schedstat', 'utf8').catch(() => '')
  return Number(text.split(' ')[1] ?? 0) / 1e6
}

/**
 * Notifies systemd that the service is ready, then keeps its watchdog from firing until `signal` aborts. Does nothing
 * without NOTIFY_SOCKET. Node cannot send datagrams on a Unix socket: systemd-notify sends them, and waits until systemd
 * has read them.
 */
export const notifySystemd = async ({ clock, env, path, signal, complain }: NotifyOptions): Promise<void> => {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: timeout, WATCHDOG_PID: pid } = env
  if (socket === undefined) return
  const exec = createExecWithTimeouts(createExec({ clock, path, variables: { NOTIFY_SOCKET: socket } }), clock)
  const send = async (...states: readonly string[]): Promise<void> => {
    try {
      await exec.run({ command: 'systemd-notify', args: states }, signal)
    } catch (error) {
      if (!signal.aborted) complain(`Could not send ${states.join(' ')} to systemd: ${asError(error).message}`)
    }
  }

  const hasWatchdog = timeout !== undefined && pid === `${process.pid}`
  // The start needs more CPU time than any later step.
  await send('READY=1', ...(hasWatchdog ? [`WATCHDOG_USEC=${STARVED_USEC}`] : []))
  if (!hasWatchdog) return
  // Two notifications may be lost or late before the watchdog fires.
  const interval = Number(timeout) / 1000 / 3
  while (!signal.aborted) {
    const waited = await waitedForCpu()
    await clock.sleep(interval, signal)
    // A process that waits for a CPU is slow, not blocked: a restart would need even more CPU time.
    const isStarved = (await waitedForCpu()) - waited > interval / 4
    await send('WATCHDOG=1', `WATCHDOG_USEC=${isStarved ? STARVED_USEC : timeout}`)
  }
}
