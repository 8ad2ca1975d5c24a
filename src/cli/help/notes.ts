/** A part of what a command says below its options. */
export interface Section {
  /** `Examples`, `Formats`, `Exit codes`; undefined for a paragraph. */
  readonly title: string | undefined
  /** `prose` is one text that may be broken anywhere; `lines` stand as they were written. */
  readonly kind: 'prose' | 'lines'
  readonly lines: readonly string[]
}

/** Paragraphs, and lists that stand indented below a line that ends in a colon. */
export const readNotes = (text: string): readonly Section[] =>
  text
    .split(/\n{2,}/)
    .map((block) => block.replaceAll(/^\n+|\n+$/g, ''))
    .filter((block) => block.trim() !== '')
    .flatMap(readBlock)

const readBlock = (block: string): readonly Section[] => {
  const lines = block.split('\n')
  const indented = lines.findIndex((line) => line.startsWith(' '))
  if (indented < 0) return [readProse(lines)]
  const list = lines.slice(indented)
  const before = lines.slice(0, indented)
  const title = before.length === 1 ? /^([A-Z][\w ]*):$/.exec(before[0] ?? '')?.[1] : undefined
  const section: Section = { title, kind: 'lines', lines: withoutMargin(list) }
  return before.length === 0 || title !== undefined ? [section] : [readProse(before), section]
}

const readProse = (lines: readonly string[]): Section => {
  const text = lines.map((line) => line.trim()).join(' ')
  const told = /^Exit codes?:? (.*)$/.exec(text)?.[1]
  return { title: told && 'Exit codes', kind: 'prose', lines: [told ?? text] }
}

const withoutMargin = (lines: readonly string[]): readonly string[] => {
  const margin = Math.min(...lines.map((line) => line.search(/\S|$/)))
  return lines.map((line) => line.slice(margin).trimEnd())
}
