import type { Io } from '../../cli/io.ts'
import { asError } from '../../core/errors.ts'
import { createExec, createExecWithTimeouts } from '../../sources/exec.ts'

interface NotifyOptions extends Pick<Io, 'clock' | 'env' | 'signal'> {
  /** The search path for programs. */
  readonly path: string
  readonly complain: (message: string) => void
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
  const send = async (state: string): Promise<void> => {
    try {
      await exec.run({ command: 'systemd-notify', args: [state] }, signal)
    } catch (error) {
      if (!signal.aborted) complain(`Could not send ${state} to systemd: ${asError(error).message}`)
    }
  }

  await send('READY=1')
  if (timeout === undefined || pid !== `${process.pid}`) return
  // Two notifications may be lost or late before the watchdog fires.
  const interval = Number(timeout) / 1000 / 3
  while (!signal.aborted) {
    await clock.sleep(interval, signal)
    await send('WATCHDOG=1')
  }
}
