import { fstatSync } from 'node:fs'
import { type DestinationStream, type Logger, pino } from 'pino'
import type { Config } from '../config/schema.ts'
import type { Io } from './io.ts'

/** The log of a long-running command: one JSON object per line, also for a warning of Node.js. */
export const createLog = ({ log: { level } }: Config, io: Pick<Io, 'stdout' | 'env' | 'onWarning'>): Logger => {
  const log = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (name) => ({ level: name }) } },
    isJournal(io) ? withPriority(io.stdout) : io.stdout,
  )
  io.onWarning?.(({ name, message, stack }) => {
    log.warn({ stack }, `Node.js: ${name}: ${message}`)
  })
  return log
}

/** Whether the output is the journal: systemd sets `JOURNAL_STREAM` to its device and inode (systemd.exec(5)). */
const isJournal = ({ stdout, env }: Pick<Io, 'stdout' | 'env'>): boolean => {
  const stream = env['JOURNAL_STREAM']
  if (stream === undefined || !('fd' in stdout) || typeof stdout.fd !== 'number') return false
  const { dev, ino } = fstatSync(stdout.fd, { bigint: true })
  return stream === `${dev}:${ino}`
}

/** The priorities of sd-daemon(3) by pino level; journald removes the prefix from the line. */
const PRIORITIES: Readonly<Record<number, number>> = { 10: 7, 20: 7, 30: 6, 40: 4, 50: 3, 60: 2 }

const withPriority = (stdout: Io['stdout']): DestinationStream => {
  const destination = {
    // Pino then sets `lastLevel` before each write.
    [pino.symbols.needsMetadataGsym]: true,
    lastLevel: pino.levels.values['info'] ?? 0,
    write: (line: string): void => {
      stdout.write(`<${PRIORITIES[destination.lastLevel] ?? 6}>${line}`)
    },
  }
  return destination
}
