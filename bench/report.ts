import { type Comparison, median, type Setup, type Skipped, type Take, Unavailable } from './comparison.ts'

/** A finished comparison; `rounds` has the takes of each round in the order of `programs`. */
export interface Measured {
  readonly programs: readonly string[]
  readonly skipped: readonly Skipped[]
  readonly rounds: readonly (readonly Take[])[]
}

export interface Section {
  /** The name of the comparison. */
  readonly name: string
  readonly markdown: string
  readonly ratios: readonly Ratio[]
  /** Undefined if nothing was measured. */
  readonly measured?: Measured
  /** Why the comparison is invalid: a program failed, or the results differ. */
  readonly failure?: string
}

/** chain-agent ÷ peer: the median of the rounds, in three digits. `program` is the one whose row has it. */
export interface Ratio {
  readonly figure: string
  readonly program: string
  readonly value: number
}

export interface Progress {
  readonly rounds: number
  readonly log: (text: string) => void
}

/** Measures a comparison. An error is a failure of this section only. */
export const runComparison = async (comparison: Comparison, setup: Setup, progress: Progress): Promise<Section> => {
  const { name } = comparison
  const head = `## ${comparison.title} (\`${name}\`)`
  try {
    const measured = await measure(comparison, setup, progress)
    const skipped = measured.skipped.map(({ name: peer, reason }) => `- Not measured: ${peer}: ${reason}`)
    const parts = [
      head,
      comparison.fairness,
      table(measured.programs, measured.rounds),
      resultLine(measured),
      skipped.join('\n'),
    ]
    return {
      name,
      markdown: parts.filter((part) => part !== '').join('\n\n'),
      ratios: ratiosOf(measured.programs, measured.rounds),
      measured,
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    if (error instanceof Unavailable) {
      progress.log(`${name}: not measured: ${reason}`)
      return { name, markdown: `${head}\n\nNot measured: ${reason}`, ratios: [] }
    }
    const markdown = `${head}\n\n**Failed**:\n\n\`\`\`text\n${reason}\n\`\`\``
    return { name, markdown, ratios: [], failure: reason }
  }
}

const measure = async ({ name, open }: Comparison, setup: Setup, { rounds, log }: Progress): Promise<Measured> => {
  log(`${name}: prepares`)
  const { programs, skipped = [], round, hasEnough } = await open(setup)
  for (const { name: peer, reason } of skipped) log(`${name}: does not measure ${peer}: ${reason}`)
  const takes: (readonly Take[])[] = []
  for (let count = 1; count <= rounds || hasEnough?.(takes) === false; count += 1) {
    const taken = await round()
    takes.push(taken)
    checkTakes(programs, takes)
    log(`${name}: round ${count}${hasEnough ? '' : ` of ${rounds}`}`)
    for (const [index, { figures }] of taken.entries()) log(`  ${programs[index]}: ${figuresText(figures)}`)
  }
  return { programs, skipped, rounds: takes }
}

/** Throws if a figure is not a number, or if two programs or two rounds have different results. */
export const checkTakes = (programs: readonly string[], rounds: readonly (readonly Take[])[]): void => {
  const takes = rounds.flatMap((round, index) =>
    round.map((taken, at) => ({ ...taken, by: `${programs[at]}, round ${index + 1}` })),
  )
  for (const { by, figures } of takes) {
    const invalid = Object.entries(figures).find(([, value]) => !(value >= 0))
    if (invalid !== undefined)
      throw new Error(`${by}: "${invalid[0]}" is ${invalid[1]}; expected a number that is not negative`)
  }
  const results = takes.flatMap(({ by, result }) => (result === undefined ? [] : [{ by, result }]))
  if (new Set(results.map(({ result }) => result)).size < 2) return
  const lines = results.map(({ by, result }) => `  ${by}: ${result}`)
  throw new Error(
    ['the programs do not have the same result, so their figures are not comparable:', ...lines].join('\n'),
  )
}

/** A release, which has its version in its name, is a peer of this checkout. */
const isOwn = (program: string): boolean => /^chain-agent(?! \d)/.test(program)

/** Each figure of each program, and chain-agent ÷ peer in each round. */
const rowsOf = (programs: readonly string[], rounds: readonly (readonly Take[])[]) => {
  const [first = ''] = programs
  const valuesOf = (figure: string, index: number): readonly number[] =>
    rounds.flatMap((takes) => takes[index]?.figures[figure] ?? [])
  const ratios = (figure: string, index: number): readonly number[] => {
    if (isOwn(programs[index] ?? '') === isOwn(first)) return []
    const [own, peer] = isOwn(first) ? [0, index] : [index, 0]
    const peers = valuesOf(figure, peer)
    return valuesOf(figure, own).flatMap((value, round) => (peers[round] === undefined ? [] : value / peers[round]))
  }
  const figures = [...new Set(rounds.flatMap((takes) => takes.flatMap((taken) => Object.keys(taken.figures))))]
  return figures.flatMap((figure) =>
    programs.flatMap((program, index) => {
      const values = valuesOf(figure, index)
      return values.length === 0 ? [] : [{ figure, program, values, ratios: ratios(figure, index) }]
    }),
  )
}

const ratiosOf = (...measured: Parameters<typeof rowsOf>): readonly Ratio[] =>
  rowsOf(...measured).flatMap(({ figure, program, ratios }) =>
    ratios.length === 0 ? [] : [{ figure, program, value: Number(median(ratios).toPrecision(3)) }],
  )

export const table = (programs: readonly string[], rounds: readonly (readonly Take[])[]): string => {
  const [first = ''] = programs
  const ratio = isOwn(first) ? `${first} ÷ this` : `÷ ${first}`
  const rows = rowsOf(programs, rounds).map(({ figure, program, values, ratios }) => [
    figure,
    program,
    spread(values),
    spread(ratios),
  ])
  return [['figure', 'program', 'median (min to max)', ratio], ['---', '---', '---', '---'], ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
}

const resultLine = ({ rounds }: Measured): string => {
  const result = rounds[0]?.find((take) => take.result !== undefined)?.result
  return result === undefined ? '' : `The same result in each round: ${result}.`
}

const spread = (values: readonly number[]): string => {
  if (values.length === 0) return ''
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
