import type { MonlogReport } from './report.ts'
import { second } from '../../core/units.ts'
import { above } from '../../health/checks/make.ts'
import { LIMITS } from '../../health/limits.ts'
import { figure, roughly } from '../../health/words.ts'

export interface MonlogVerdict {
  readonly word: 'OK' | 'WARNING' | 'CRITICAL' | 'UNKNOWN'
  /** The sentence behind the word, with its full stop. */
  readonly sentence: string
  /** 0: blocks are committed; 1: something asks for attention; 2: they are not, or that cannot be told. */
  readonly exitCode: 0 | 1 | 2
}

type Judged = Omit<MonlogReport, 'verdict'>

const WELL = 'blocks are processed and committed'

/** What is to be said of the newest minute, and that there was something before it. */
export const monlogVerdict = (report: Judged): MonlogVerdict => {
  const { findings, problem, hasSpoken, committing, statesync } = report
  const now = findings.filter(({ isPresent }) => isPresent)
  const critical = now.find(({ severity }) => severity === 'critical')
  const warning = now.find(({ severity }) => severity === 'warning')
  const syncing = now.find(({ name }) => name === 'statesync_active')
  const before = findings.find(({ isPresent, severity }) => !isPresent && severity !== 'info')
  if (problem) return unknown(problem.says)
  if (!hasSpoken) return unknown(silence(report))
  if (critical) return { word: 'CRITICAL', sentence: begun(critical.text), exitCode: 2 }
  // Only known to be the node's state: whoever syncs commits nothing, and serves nobody.
  if (statesync === true && committing !== true && syncing) return warn(begun(syncing.text))
  // The window looks back a minute: a node that stopped half a minute ago still has commits in it.
  const still = above(report.committedBefore ?? undefined, LIMITS.blockAge)
  if (still) {
    const sentence = `no block was committed for ${roughly((report.committedBefore ?? 0) * second)}.`
    return still === 'critical'
      ? { word: 'CRITICAL', sentence, exitCode: 2 }
      : { word: 'WARNING', sentence, exitCode: 1 }
  }
  if (committing === null)
    return unknown(`whether blocks are committed cannot be told: ${why(report)}`)
  if (warning) return warn(begun(warning.text))
  if (before) return warn(`${WELL}; before ${before.lastAt}: ${begun(before.text)}`)
  return { word: 'OK', sentence: `${WELL}.`, exitCode: 0 }
}

const unknown = (says: string): MonlogVerdict => ({
  word: 'UNKNOWN',
  sentence: `${says}.`,
  exitCode: 2,
})

const warn = (sentence: string): MonlogVerdict => ({ word: 'WARNING', sentence, exitCode: 1 })

const silence = ({ unit, window, source }: Judged): string =>
  source === 'file'
    ? 'the file has no line of the consensus service'
    : `${unit ?? 'the consensus service'} said nothing in these ${window.minutes === 1 ? '60 seconds' : `${window.minutes} minutes`}`

const why = ({ window, source }: Judged): string => {
  if (window.dropped > 0) return `journald dropped ${figure(window.dropped)} messages`
  const what = source === 'file' ? 'the file' : 'the journal'
  return window.isCovered
    ? 'the log does not say'
    : `${what} does not reach back over the last 60 seconds`
}

/** A sentence of its own, after a colon. */
const begun = (text: string): string => `${text.charAt(0).toLowerCase()}${text.slice(1)}`
