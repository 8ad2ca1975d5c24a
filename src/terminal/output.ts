import { toJson } from '../core/json.ts'
import type { ActionContext } from './io.ts'
import { createStyle, type Style } from './style.ts'

/** The options of a command that prints its result as text or as JSON. */
export interface OutputOptions {
  readonly json?: true
}

export interface Result {
  readonly document: () => unknown
  readonly lines: (style: Style) => readonly string[]
}

export const printResult = (
  { io, options }: Pick<ActionContext<OutputOptions>, 'io' | 'options'>,
  { document, lines }: Result,
): void => {
  const style = createStyle(io)
  io.stdout.write(options.json ? jsonText(document()) : style.plain(linesText(lines(style))))
}

/** Indented JSON with a newline at its end. */
export const jsonText = (value: unknown): string => `${JSON.stringify(toJson(value), undefined, 2)}\n`

export const linesText = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')
