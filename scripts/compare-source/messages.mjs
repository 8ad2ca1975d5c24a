// The texts of a source file: what it logs, what it prints when the process ends, and all other string literals.

/** `ends`: the process ends, and prints the text after what the macro puts before it. */
const RUST_CALLS = [
  [/\b(trace|debug|info|warn|error)!\s*[([{]/g, ([, level]) => level],
  [/\bevent!\s*\(\s*(?:tracing::)?(?:Level::)?(TRACE|DEBUG|INFO|WARN|ERROR)\b/g, ([, level]) => level.toLowerCase()],
  [/\bpanic!\s*[([{]/g, () => 'ends'],
  [/\bunreachable!\s*[([{]/g, () => 'ends', 'internal error: entered unreachable code: '],
  [/\btodo!\s*[([{]/g, () => 'ends', 'not yet implemented: '],
  [/\bunimplemented!\s*[([{]/g, () => 'ends', 'not implemented: '],
  [/\bassert!\s*[([{]/g, () => 'ends'],
  [/\bassert_eq!\s*[([{]/g, () => 'ends', 'assertion `left == right` failed: '],
  [/\bassert_ne!\s*[([{]/g, () => 'ends', 'assertion `left != right` failed: '],
  [/\.expect(?:_err)?\s*\(/g, () => 'ends'],
]
const CPP_LEVELS = {
  DEBUG: 'debug',
  INFO: 'info',
  NOTICE: 'info',
  WARNING: 'warn',
  ERROR: 'error',
  CRITICAL: 'error',
  FATAL: 'error',
}
const CPP_CALLS = [
  [/\bLOG_(DEBUG|INFO|NOTICE|WARNING|ERROR|CRITICAL|FATAL)(?:_LIMIT)?\s*\(/g, ([, level]) => CPP_LEVELS[level]],
  [/\bMONAD_(?:ASSERT(?:_PRINTF|_REVISION_EQ)?|ABORT(?:_PRINTF)?|ASSERTION_FAILED_WITH_MSG)\s*\(/g, () => 'ends'],
]

export const languageOf = (path) => {
  if (path.endsWith('.rs')) return 'rust'
  if (path.endsWith('.sh')) return 'shell'
  return /\.(?:c|cc|cpp|h|hpp)$/.test(path) ? 'cpp' : null
}

/** `#[cfg(test)]` of a module, in the first column, up to the brace that closes it. */
const TEST_MODULE = /^#\[cfg\(test\)\]\n(?:#\[[^\n]*\n)*(?:pub )?mod \w+ \{\n[\s\S]*?^\}/gm

export const readSource = (path, text) => {
  const language = languageOf(path)
  if (language === null || language === 'shell') return readLines(text)
  const { code: all, literals } = lex(text, language)
  const tests =
    language === 'rust'
      ? [...all.matchAll(TEST_MODULE)].map((match) => [match.index, match.index + match[0].length])
      : []
  const isTest = (at) => tests.some(([start, end]) => at >= start && at < end)
  const code = tests.reduce(
    (rest, [start, end]) => rest.slice(0, start) + rest.slice(start, end).replaceAll(/[^\n]/g, ' ') + rest.slice(end),
    all,
  )
  const lines = code.split('\n')
  const item = enclosingOf(lines, language)
  const starts = lineStarts(code)
  const itemAt = (at) => item(lineOf(starts, at))
  const seen = new Set()
  const texts = []
  for (const [expression, kindOf, prefix = ''] of language === 'rust' ? RUST_CALLS : CPP_CALLS) {
    for (const match of code.matchAll(expression)) {
      const open = match[0].search(/[([{]/) + match.index
      const end = closeOf(code, open)
      const message = messageOf(code, literals, { open, end })
      if (message) seen.add(message)
      const printed = message ? prefix + message.value : assertionOf(match[0], text.slice(open + 1, end))
      texts.push({ kind: kindOf(match), text: message ? printed : null, printed, at: match.index })
    }
  }
  for (const one of literals) {
    if (!seen.has(one) && !isTest(one.start))
      texts.push({ kind: 'literal', text: one.value, printed: one.value, at: one.start })
  }
  return {
    language,
    text,
    code,
    lines,
    itemAt,
    texts: texts.map(({ at, ...one }) => ({ ...one, line: lineOf(starts, at) + 1, function: itemAt(at) })),
  }
}

/** Configuration and scripts have no functions: every quoted text, and every line. */
const readLines = (text) => {
  const lines = text.split('\n')
  const texts = lines.flatMap((line, at) =>
    [...line.matchAll(/"([^"]+)"/g)].map(([, quoted]) => ({
      kind: 'literal',
      text: quoted,
      printed: quoted,
      line: at + 1,
      function: null,
    })),
  )
  return { language: null, text, code: text, lines, texts, itemAt: () => null }
}

/** C++: an assertion without a text prints its condition. */
const assertionOf = (call, condition) =>
  call.startsWith('MONAD_ASSERT')
    ? `{}: {}:{}: {}: Assertion '${condition.replaceAll(/\s+/g, ' ').trim()}' failed.`
    : null

/** The first literal among the arguments that is not the value of a field (`name = "…"`) or part of a condition. */
const messageOf = (code, literals, { open, end }) => {
  const from = firstAfter(literals, open)
  for (let index = from; index < literals.length && literals[index].start < end; index++) {
    const { start } = literals[index]
    const before = code.slice(open + 1, start)
    if (depthOf(before) === 0 && /(?:^|,|\bmessage =)\s*$/.test(before)) return literals[index]
  }
  return undefined
}

const firstAfter = (literals, at) => {
  let [low, high] = [0, literals.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (literals[middle].start < at) low = middle + 1
    else high = middle
  }
  return low
}

const depthOf = (code) => {
  let depth = 0
  for (const character of code) {
    if ('([{'.includes(character)) depth++
    else if (')]}'.includes(character)) depth--
  }
  return depth
}

const closeOf = (code, open) => {
  let depth = 0
  for (let at = open; at < code.length; at++) {
    if ('([{'.includes(code[at])) depth++
    else if (')]}'.includes(code[at]) && --depth === 0) return at
  }
  return code.length
}

const lineStarts = (code) => {
  const starts = [0]
  for (let at = code.indexOf('\n'); at !== -1; at = code.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

const lineOf = (starts, at) => {
  let [low, high] = [0, starts.length]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (starts[middle] <= at) low = middle
    else high = middle
  }
  return low
}

// String literals and code of a Rust or C++ file. Comments and the contents of literals are blanked in `code`, so that
// positions and lines stay the same.

const RAW = { rust: /r(#*)"/y, cpp: /(?:u8|[uUL])?R"([^(\s]{0,16})\(/y }

const ESCAPES = { n: '\n', t: '\t', r: '\r', 0: '\0' }

/** Rust: a backslash at the end of a line joins it with the next one. */
const unescape = (text) =>
  text.replaceAll(/\\\r?\n\s*/g, '').replaceAll(/\\(.)/g, (_, character) => ESCAPES[character] ?? character)

const lex = (text, language) => {
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

// The function, macro, constant or type that encloses a line. Both repositories are formatted by their formatters, so
// that indentation shows the structure.

const RUST_ITEM =
  /^\s*(?:pub(?:\([^)]*\))? )?(?:(?:default|const|async|unsafe|extern "[^"]*") )*(?:fn|macro_rules!|const|static(?: mut)?|enum|struct) (\w+)/
const CPP_TYPE = /^\s*(?:enum(?: class)?|struct|class|union) (?:\w+\([^)]*\) )?(\w+)/
const NO_FUNCTION = new Set(
  'if for while switch catch do else return requires noexcept decltype alignas sizeof constexpr defined'.split(' '),
)

const indentOf = (line) => line.search(/\S/)

/** Returns null outside of every item. `lines` are those of the code without comments and literals. */
const enclosingOf = (lines, language) => (language === 'rust' ? rustItem(lines) : cppItem(lines))

const rustItem = (lines) => (index) => {
  let indent = indentOf(lines[index]) + 1
  for (let at = index; at >= 0; at--) {
    const own = indentOf(lines[at])
    if (own === -1 || own >= indent) continue
    const [, name] = RUST_ITEM.exec(lines[at]) ?? []
    if (name !== undefined) return name
    // The end of a signature over several lines: its beginning has the same indentation.
    indent = /^\s*(?:\)|\{|where\b|[>\]])/.test(lines[at]) ? own + 1 : own
    if (at === index && own > 0) indent = own
    if (indent === 0) return null
  }
  return null
}

const cppItem = (lines) => (index) => {
  const define = macroAt(lines, index)
  if (define !== undefined) return define
  let indent = Math.max(indentOf(lines[index]), 0)
  for (let at = index - 1; at >= 0; at--) {
    const own = indentOf(lines[at])
    if (own === -1 || own >= indent || /^(?:#|\}|catch\b)/.test(lines[at])) continue
    if (/^(?:\s*|try )\{\s*$/.test(lines[at])) {
      const name = headBefore(lines, at, own)
      if (name !== undefined) return name
    } else if (/\{\s*$/.test(lines[at])) {
      // A function whose brace is on the line of its head; control statements and lambdas are not.
      const [, name] = /^\s*(?:[\w:<>,*& ]+ )?([~\w:]+)\([^;]*\{\s*$/.exec(lines[at]) ?? []
      if (name !== undefined && own === 0 && !NO_FUNCTION.has(name)) return lastPart(name)
    }
    if (/^\s*:/.test(lines[at])) {
      const name = headBefore(lines, at, own - 1)
      if (name !== undefined) return name
    }
    indent = own
  }
  return null
}

const macroAt = (lines, index) => {
  for (let at = index; at >= 0; at--) {
    const [, name] = /^\s*#\s*define (\w+)/.exec(lines[at]) ?? []
    if (name !== undefined) return name
    if (at < 1 || !lines[at - 1].endsWith('\\')) return undefined
  }
  return undefined
}

/** The name of the function whose body begins with the brace at this line. */
const headBefore = (lines, brace, indent) => {
  const head = []
  for (let at = brace - 1; at >= 0 && head.length < 60; at--) {
    const line = lines[at]
    // Initializers of a constructor are indented, and may have lambdas.
    if (line.trim() === '' || (indentOf(line) <= indent && /^#|[;{}]\s*$/.test(line))) break
    head.unshift(line)
  }
  const text = head.join('\n')
  for (const [, name] of text.matchAll(/(operator\S+|[~\w:]+)\s*\(/g)) {
    if (!NO_FUNCTION.has(name) && !/^(?:__\w+|[A-Z_]+_ATTRIBUTE\w*)$/.test(name)) return lastPart(name)
  }
  return CPP_TYPE.exec(text)?.[1]
}

const lastPart = (name) => name.split('::').at(-1)
