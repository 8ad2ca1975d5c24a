import type { Style } from './style.ts'

/** Wraps a text at blanks; a longer word is not broken. */
export const wrap = (text: string, { width }: Pick<Style, 'width'>, indent = ''): readonly string[] => {
  const lines: string[] = []
  for (const paragraph of text.split('\n')) {
    let line = ''
    for (const word of paragraph.split(' ')) {
      const longer = line === '' ? word : `${line} ${word}`
      if (line !== '' && width !== undefined && indent.length + longer.length > width) {
        lines.push(indent + line)
        line = word
      } else line = longer
    }
    lines.push((indent + line).trimEnd())
  }
  return lines
}

/** `label  value` lines: labels in one column, long values wrapped in the second column. */
export const pairs = (
  rows: readonly (readonly [label: string, value: string])[],
  style: Style,
  indent = '  ',
): readonly string[] => {
  const longest = Math.max(0, ...rows.map(([label]) => label.length))
  const column = indent.length + longest + 2
  // If the labels leave no space, each value is printed below its label.
  const isNarrow = style.width !== undefined && style.width - column < 24
  return rows.flatMap(([label, value]) => {
    if (isNarrow && column + value.length > (style.width ?? 0)) {
      return [`${indent}${style.paint('quiet', label)}`, ...wrap(value, style, `${indent}  `)]
    }
    const [first = '', ...rest] = wrap(value, style, ' '.repeat(column))
    const head = `${indent}${style.paint('quiet', label.padEnd(longest))}  `
    return [`${head}${first.trimStart()}`.trimEnd(), ...rest]
  })
}
