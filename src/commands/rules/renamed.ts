import { SourceError } from '../../core/errors.ts'
import { count } from '../../core/format.ts'
import { describeRenamed, findRenamed, type RenamedUse } from '../../health/rules/renamed.ts'
import { type ActionContext, unlessInterrupted, UsageError } from '../../terminal/io.ts'
import { type OutputOptions, printResult } from '../../terminal/output.ts'
import { type Style, wrap } from '../../terminal/style.ts'
import { readInput } from '../shared/read-input.ts'

/** `chain-agent rules --renamed`: what a file names of version 0.2.0. Throws a UsageError for a file that cannot be read. */
export const listRenamed = async ({ io, exit, options }: ActionContext<OutputOptions>, file: string): Promise<void> => {
  const text = await unlessInterrupted(io, exit, () => readInput(io, file)).catch((error: unknown) => {
    throw error instanceof SourceError ? new UsageError(error.message, { cause: error }) : error
  })
  if (text === undefined) return
  const uses = findRenamed(text)
  printResult({ io, options }, { document: () => ({ file, uses }), lines: (style) => renamedLines(file, uses, style) })
  exit(uses.length === 0 ? 0 : 1)
}

const renamedLines = (file: string, uses: readonly RenamedUse[], style: Style): readonly string[] => [
  ...uses.flatMap(({ line, old, now, matchers }) => [
    ...wrap(`${file}:${line}: ${describeRenamed({ old, now })}`, style),
    ...(matchers === null || matchers === now ? [] : wrap(matchers, style, '    ')),
  ]),
  ...wrap(
    uses.length === 0
      ? `${file} names nothing that was renamed since version 0.2.0.`
      : `${count(uses.length, 'old name')} of version 0.2.0 in ${file}.`,
    style,
  ),
]
