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
export const enclosingOf = (lines, language) => (language === 'rust' ? rustItem(lines) : cppItem(lines))

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
