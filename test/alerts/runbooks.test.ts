import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { metrics } from '../../src/metrics.ts'
import { LOG_PATTERNS } from '../../src/parsers/log-patterns/list.ts'
import { RUNBOOKS } from './files.ts'

/** Lines of an exposition: each metric with the possible text after its name. */
const SERIES = Object.entries(metrics).flatMap(([metric, { type }]) =>
  type === 'histogram' ? ['bucket', 'sum', 'count'].map((part) => `${metric}_${part}`) : [metric],
)
const PATTERNS = LOG_PATTERNS.map(({ name }) => name)
/** Labels by which a command selects from metrics that it does not name. */
const LABELS = ['event="', 'pattern="', 'service="']

/** All beginnings that an extended regular expression of grep can match: groups and alternatives are expanded. */
const writeOut = (expression: string): readonly string[] => {
  const read = (from: number): { readonly words: readonly string[]; readonly end: number } => {
    const done: string[] = []
    let words: readonly string[] = ['']
    let at = from
    while (at < expression.length && expression[at] !== ')') {
      if (expression[at] === '(') {
        const { words: inner, end } = read(at + 1)
        const optional = expression[end + 1] === '?'
        words = words.flatMap((word) => [...inner, ...(optional ? [''] : [])].map((one) => word + one))
        at = end + (optional ? 2 : 1)
      } else if (expression[at] === '|') {
        done.push(...words)
        words = ['']
        at += 1
      } else {
        const length = expression[at] === '\\' ? 2 : 1
        words = words.map((word) => word + expression.slice(at, at + length))
        at += length
      }
    }
    return { words: [...done, ...words], end: at }
  }
  return read(0).words
}

/** In a basic expression characters without a backslash are literal. */
const extended = (basic: string): string =>
  basic.replaceAll(/\\?[()|]/g, (found) => (found.length === 2 ? found.slice(1) : `\\${found}`))

/** The patterns that the commands of a runbook search in the metrics of the agent or the query service. */
const lookedFor = (page: string): readonly string[] =>
  page
    .split('\n')
    .filter((line) => /localhost:(?:9843|9144)\/metrics/.test(line))
    .flatMap((line) => [...line.matchAll(/grep (-E )?(?:'([^']*)'|([a-z_]+))/g)])
    .flatMap(([, isExtended, quoted, word]) => {
      const expression = quoted ?? word ?? ''
      return writeOut(isExtended === undefined ? extended(expression) : expression)
    })

const finds = (wanted: string): boolean => {
  const anchored = wanted.startsWith('^')
  if (wanted.startsWith('pattern="')) return PATTERNS.some((name) => wanted === `pattern="${name}"`)
  if (LABELS.some((label) => wanted.startsWith(label))) return true
  const [name = ''] = wanted.replace('^', '').split(/[{.*\\ ]/)
  if (!name.startsWith('chain_')) {
    return !anchored && [...SERIES, ...PATTERNS].some((one) => one.includes(name))
  }
  return SERIES.some((one) => one.startsWith(name))
}

const pages = readdirSync(RUNBOOKS).filter((file) => file !== 'index.md')

describe('the commands of the runbooks', () => {
  it('are parsed: groups, options, alternatives, both kinds of expression', () => {
    expect(lookedFor("curl localhost:9843/metrics | grep -E '^a_(b_)?c|^d(e|f)'")).toEqual([
      '^a_b_c',
      '^a_c',
      '^de',
      '^df',
    ])
    expect(lookedFor(String.raw`curl localhost:9843/metrics | grep 'a\(b\|c\)'`)).toEqual(['ab', 'ac'])
  })

  it('match existing metrics and no others', () => {
    expect(['^chain_rpc_u', 'chain_blocks_beh', 'wal_stop', '^chain_rpc_up.*'].filter(finds)).toHaveLength(4)
    expect(['^chain_rpcs', 'chain_nothing', 'wal_gone', '^wal_stopped'].filter(finds)).toEqual([])
  })

  it.each(pages)('%s searches only existing metrics', (file) => {
    const wanted = lookedFor(readFileSync(join(RUNBOOKS, file), 'utf8'))
    expect(wanted.filter((one) => !finds(one))).toEqual([])
  })

  it.each(pages)('%s does not sort the log of a service by its priority, which is one for all lines', (file) => {
    expect(readFileSync(join(RUNBOOKS, file), 'utf8')).not.toMatch(/journalctl[^|\n]* -p /)
  })
})
