// The texts of a source file: what it logs, what it prints when the process ends, and all other string literals.
import { enclosingOf } from './enclosing.mjs'
import { lex } from './lexer.mjs'

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
