const TRUE_START = Date.UTC(2026, 10, 24, 10)
const BACK_MS = 40 * 60_000
const BOOT = 'b'.repeat(32)
const UPTIME_MS = 1_000_000

export interface SteppedEntry {
  readonly at: number
  readonly cursor: string
  readonly message: string
  /** As `journalctl -o json` prints it. */
  readonly line: string
  /** As systemd-journal-remote reads it. */
  readonly exported: string
}

const ASSERTION = "runloop_monad.cpp:216: void f(): Assertion 'x.second' failed."

/**
 * The log of execution from 10:00:00 to 10:39:55, an entry each 5 s. At 10:10 the clock of the host was set back by 40
 * minutes, to 09:30, and at 10:30 it was set right. At 10:20, when the clock showed 09:40, execution exited on an
 * assertion. As journald does, a new file begins when the clock goes back.
 */
export const steppedFiles = (): readonly (readonly SteppedEntry[])[] => {
  const entries = Array.from({ length: 480 }, (_, index) => index * 5000).flatMap((ms) => [
    { ms, message: blockLine(1000 + ms / 5000, clockAt(ms)) },
    ...(ms === 1_200_000 ? [{ ms: ms + 1, message: ASSERTION }] : []),
  ])
  const all = entries.map(({ ms, message }, index) => entryOf({ ms, message, number: index + 1 }))
  return [all.slice(0, 120), all.slice(120)]
}

const clockAt = (ms: number): number => TRUE_START + ms - (ms >= 600_000 && ms < 1_800_000 ? BACK_MS : 0)

const hex = (number: number): string => number.toString(16)

const entryOf = ({ ms, message, number }: { ms: number; message: string; number: number }): SteppedEntry => {
  const at = clockAt(ms)
  const [realtime, monotonic] = [at * 1000, (UPTIME_MS + ms) * 1000]
  const cursor = `s=${'5'.repeat(32)};i=${hex(number)};b=${BOOT};m=${hex(monotonic)};t=${hex(realtime)};x=${hex(number)}`
  const fields = {
    __CURSOR: cursor,
    __REALTIME_TIMESTAMP: `${realtime}`,
    __MONOTONIC_TIMESTAMP: `${monotonic}`,
    _BOOT_ID: BOOT,
    _SYSTEMD_UNIT: 'chain-execution.service',
    _PID: '7',
    PRIORITY: '6',
    SYSLOG_IDENTIFIER: 'chain',
    MESSAGE: message,
  }
  const lines = Object.entries(fields).map(([field, value]) => `${field}=${value}\n`)
  const exported = `${lines.join('')}_MACHINE_ID=${'a'.repeat(32)}\n_HOSTNAME=host\n\n`
  return { at, cursor, message, line: JSON.stringify(fields), exported }
}

const blockLine = (block: number, at: number): string =>
  `2026-11-24 10:00:00.000000000 [9] runloop_monad.cpp:1 LOG_INFO\t__exec_block,bl=${block},ts=${at},tx=1,` +
  'rt=0,rtp=0.00%,sr=1us,txe=1us,cmt=1us,tot=3us,tpse=1,tps=1,gas=1,gpse=1,gps=1'
