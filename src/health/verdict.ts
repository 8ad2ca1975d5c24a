import { CHECKS } from './checks/index.ts'
import { node } from './checks/node.ts'
import type { Evidence, Finding, Severity } from './finding.ts'
import { announced, type Announced } from './maintenance.ts'

export type Word = 'OK' | 'WARNING' | 'CRITICAL' | 'UNKNOWN' | 'MAINTENANCE'

export interface Verdict {
  readonly word: Word
  /** The sentence behind the word, with its full stop. */
  readonly sentence: string
  /** The worst first; of the same severity in the order of the checks. */
  readonly findings: readonly Finding[]
  /** 0: all is well; 1: something asks for attention; 2: the node does not do its work, or that cannot be told. */
  readonly exitCode: 0 | 1 | 2
}

const ORDER: readonly Severity[] = ['critical', 'unknown', 'warning', 'info']
const WORDS = {
  critical: ['CRITICAL', 2],
  unknown: ['UNKNOWN', 2],
  warning: ['WARNING', 1],
} as const

/** What is to be said of a node: the worst that is found, or that all is well. `more` comes from whoever looked further. */
export const judge = (evidence: Evidence, more: readonly Finding[] = []): Verdict => {
  const absent = node(evidence)
  // Where there is no node, nothing else is to be said of it.
  const found = absent.length > 0 ? absent : CHECKS.flatMap((check) => check(evidence))
  const findings = [...found, ...more].toSorted(
    (a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity),
  )
  const maintenance = announced(evidence)
  const counted = maintenance ? findings.filter(({ subject }) => subject === 'security') : findings
  const [worst] = counted
  if (worst && worst.severity !== 'info') {
    const [word, exitCode] = WORDS[worst.severity]
    return { word, sentence: `${worst.says}.`, findings, exitCode }
  }
  return maintenance
    ? { word: 'MAINTENANCE', sentence: during(maintenance, findings), findings, exitCode: 0 }
    : { word: 'OK', sentence: 'the node keeps up with the chain.', findings, exitCode: 0 }
}

/** `WORD: sentence`, the first line of everything that tells a verdict. */
export const firstLine = ({ word, sentence }: Pick<Verdict, 'word' | 'sentence'>): string =>
  `${word}: ${sentence}`

const during = (maintenance: Announced, findings: readonly Finding[]): string => {
  const worst = findings.find(({ severity }) => severity !== 'info')
  return `${maintenance.reason}, ${maintenance.left} left${worst ? `; ${worst.says}` : ''}.`
}
