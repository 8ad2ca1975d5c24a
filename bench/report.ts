import { type Comparison, median, type Setup, type Skipped, type Take, Unavailable } from './comparison.ts'

/** A finished comparison; `rounds` has the takes of each round in the order of `programs`. */
interface Measured {
  readonly programs: readonly string[]
  readonly skipped: readonly Skipped[]
  readonly rounds: readonly (readonly Take[])[]
}

export interface Section {
  readonly markdown: string
  /** Why the comparison is invalid: a program failed, or the results differ. */
  readonly failure?: string
}

export interface Progress {
  readonly rounds: number
  readonly log: (text: string) => void
}

/** Measures a comparison. An error is a failure of this section only. */
export const runComparison = async (
  comparison: Comparison,
  setup: Setup,
  progress: Progress,
): Promise<Section> => {
  const head = `## ${comparison.title} (\`${comparison.name}\`)`
  try {
    const measured = await measure(comparison, setup, progress)
    const skipped = measured.skipped.map(({ name, reason }) => `- Not measured: ${name}: ${reason}`)
    const parts = [head, comparison.fairness, table(comparison, measured), resultLine(measured), skipped.join('\n')]
    return { markdown: parts.filter((part) => part !== '').join('\n\n') }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    if (error instanceof Unavailable) return { markdown: `${head}\n\nNot measured: ${reason}` }
    return { markdown: `${head}\n\n**Failed**:\n\n\`\`\`text\n${reason}\n\`\`\``, failure: reason }
  }
}

const measure = async (
  { name, open }: Comparison,
  setup: Setup,
  { rounds, log }: Progress,
): Promise<Measured> => {
  log(`${name}: prepares`)
  const { programs, skipped = [], round } = await open(setup)
  for (const { name: peer, reason } of skipped) log(`${name}: does not measure ${peer}: ${reason}`)
  const takes: (readonly Take[])[] = []
  for (let count = 1; count <= rounds; count += 1) {
    const taken = await round()
    takes.push(taken)
    checkResults(programs, takes)
    log(`${name}: round ${count} of ${rounds}`)
    for (const [index, { figures }] of taken.entries()) log(`  ${programs[index]}: ${figuresText(figures)}`)
  }
  return { programs, skipped, rounds: takes }
}

/** Throws if two programs, or two rounds, have different results. */
export const checkResults = (programs: readonly string[], rounds: readonly (readonly Take[])[]): void => {
  const results = rounds.flatMap((takes, round) =>
    takes.flatMap(({ result }, index) =>
      result === undefined ? [] : [{ result, by: `${programs[index]}, round ${round + 1}` }],
    ),
  )
  if (new Set(results.map(({ result }) => result)).size < 2) return
  const lines = results.map(({ by, result }) => `  ${by}: ${result}`)
  throw new Error(['the programs do not have the same result, so their times are not comparable:', ...lines].join('\n'))
}

/** Each figure of each program, and chain-agent ÷ peer: of each round, then the median. */
export const table = ({ isFirstPeer = false }: Pick<Comparison, 'isFirstPeer'>, measured: Omit<Measured, 'skipped'>) => {
  const { programs, rounds } = measured
  const valuesOf = (figure: string, index: number): readonly number[] =>
    rounds.flatMap((takes) => takes[index]?.figures[figure] ?? [])
  const figures = [...new Set(rounds.flatMap((takes) => takes.flatMap((take) => Object.keys(take.figures))))]
  const rows = figures.flatMap((figure) => {
    const first = valuesOf(figure, 0)
    return programs.flatMap((program, index) => {
      const values = valuesOf(figure, index)
      if (values.length === 0) return []
      const ratios = first.map((value, round) => {
        const other = values[round] ?? Number.NaN
        return isFirstPeer ? other / value : value / other
      })
      return [[figure, program, spread(values), index === 0 || ratios.length === 0 ? '' : spread(ratios)]]
    })
  })
  const ratio = isFirstPeer ? `÷ ${programs[0]}` : `${programs[0]} ÷ this`
  return [['figure', 'program', 'median (min to max)', ratio], ['---', '---', '---', '---'], ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
}

const resultLine = ({ programs, rounds }: Measured): string => {
  const count = programs.filter((_, index) => rounds[0]?.[index]?.result !== undefined).length
  const result = rounds[0]?.find((take) => take.result !== undefined)?.result
  return result === undefined ? '' : `Result of ${count === 1 ? 'each round' : `all ${count}, in each round`}: ${result}.`
}

const spread = (values: readonly number[]): string => {
  const [least, most] = [Math.min(...values), Math.max(...values)].map(format)
  return least === most ? format(median(values)) : `${format(median(values))} (${least} to ${most})`
}

/** Three digits. */
const format = (value: number): string =>
  Math.abs(value) >= 1000 ? Math.round(value).toLocaleString('en') : `${Number(value.toPrecision(3))}`

const figuresText = (figures: Take['figures']): string =>
  Object.entries(figures)
    .map(([name, value]) => `${name} ${format(value)}`)
    .join('; ')
