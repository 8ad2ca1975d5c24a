import { type Logger, pino } from 'pino'
import type { Config } from '../config/schema.ts'
import type { Io } from './io.ts'

/** The log of what runs until it is stopped: a line of JSON each. */
export const createLog = ({ log }: Config, { stdout }: Io): Logger =>
  pino(
    {
      level: log.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
    },
    stdout,
  )
