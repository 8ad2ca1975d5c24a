// String literals and code of a Rust or C++ file. Comments and the contents of literals are blanked in `code`, so that
// positions and lines stay the same.

const RAW = { rust: /r(#*)"/y, cpp: /(?:u8|[uUL])?R"([^(\s]{0,16})\(/y }

const ESCAPES = { n: '\n', t: '\t', r: '\r', 0: '\0' }

/** Rust: a backslash at the end of a line joins it with the next one. */
const unescape = (text) =>
  text.replaceAll(/\\\r?\n\s*/g, '').replaceAll(/\\(.)/g, (_, character) => ESCAPES[character] ?? character)

export const lex = (text, language) => {
  const literals = []
  const code = []
  let at = 0
  const blank = (end) => {
    for (; at < end; at++) code.push(text[at] === '\n' ? '\n' : ' ')
  }
  const keep = () => code.push(text[at++])
  const literal = ({ from, to, end }, value) => {
    literals.push({ start: at, end, value })
    while (at < from) keep()
    blank(to)
    while (at < end) keep()
  }
  while (at < text.length) {
    const character = text[at]
    if (character === '/' && text[at + 1] === '/') {
      const end = text.indexOf('\n', at)
      blank(end === -1 ? text.length : end)
    } else if (character === '/' && text[at + 1] === '*') {
      const end = text.indexOf('*/', at + 2)
      blank(end === -1 ? text.length : end + 2)
    } else if (character === '"') {
      let end = at + 1
      while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1
      literal({ from: at + 1, to: end, end: end + 1 }, unescape(text.slice(at + 1, end)))
    } else if (character === "'") {
      // A character, or a lifetime of Rust, or a separator of digits in C++.
      const [found] = /^'(?:\\(?:u\{\w+\}|x\w\w|.)|[^'\\\n])'/u.exec(text.slice(at, at + 14)) ?? []
      if (found === undefined) keep()
      else blank(at + found.length)
    } else {
      const raw = /[rRuUL]/.test(character) && !/\w/.test(text[at - 1] ?? '') ? rawAt(text, at, language) : undefined
      if (raw === undefined) keep()
      else literal(raw, text.slice(raw.from, raw.to))
    }
  }
  return { code: code.join(''), literals: joined(literals, text, language) }
}

const rawAt = (text, at, language) => {
  const expression = RAW[language]
  expression.lastIndex = at
  const match = expression.exec(text)
  if (!match) return undefined
  const from = at + match[0].length
  const close = language === 'rust' ? `"${match[1]}` : `)${match[1]}"`
  const to = text.indexOf(close, from)
  return to === -1 ? undefined : { from, to, end: to + close.length }
}

/** C++ joins literals that follow each other. */
const joined = (literals, text, language) => {
  if (language !== 'cpp') return literals
  const result = []
  for (const one of literals) {
    const last = result.at(-1)
    if (last && /^\s*$/.test(text.slice(last.end, one.start))) {
      result[result.length - 1] = { start: last.start, end: one.end, value: last.value + one.value }
    } else result.push(one)
  }
  return result
}
