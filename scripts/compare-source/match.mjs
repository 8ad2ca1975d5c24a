// Whether a text of the source, with placeholders, can be the beginning of what a pattern of the agent matches.

/** A part that may be any text. */
const ANY = '\0'
const PLACEHOLDER = /\{[^{}]*\}|%[-+#0 ]*\d*(?:\.(?:\d+|\*))?(?:hh?|ll?|[zjtL])?[diouxXeEfgGcspu]/g
const MAX_ALTERNATIVES = 512

/** What a program prints before the text of an error with which it ends. */
export const ERROR_PREFIXES = ['', 'error: ', 'Error: ']

/** The texts that an expression stands for, with ANY for what varies. Lookaheads are left out. */
export const alternativesOf = (expression) => {
  let at = 0
  const either = () => {
    const all = [...sequence()]
    while (expression[at] === '|') {
      at++
      all.push(...sequence())
    }
    return [...new Set(all)].slice(0, MAX_ALTERNATIVES)
  }
  const sequence = () => {
    let texts = ['']
    while (at < expression.length && expression[at] !== '|' && expression[at] !== ')') {
      const next = quantified(atom())
      texts = texts.flatMap((text) => next.map((one) => text + one)).slice(0, MAX_ALTERNATIVES)
    }
    return texts
  }
  const atom = () => {
    const character = expression[at++]
    if (character === '.') return [ANY]
    if (character === '^' || character === '$') return ['']
    if (character === '[') {
      at = expression.indexOf(']', at + 1) + 1
      return [ANY]
    }
    if (character === '\\') {
      const escaped = expression[at++]
      if (escaped === 'b') return ['']
      return [/[dDwWsS]/.test(escaped) ? ANY : escaped]
    }
    if (character !== '(') return [character]
    const isLookahead = /^\?<?[!=]/.test(expression.slice(at))
    at += /^\?(?::|<?[!=])/.exec(expression.slice(at))?.[0].length ?? 0
    const inner = either()
    at++
    return isLookahead ? [''] : inner
  }
  const quantified = (texts) => {
    const [quantifier] = /^(?:[?*+]|\{\d+(?:,\d*)?\})\??/.exec(expression.slice(at)) ?? []
    if (quantifier === undefined) return texts
    at += quantifier.length
    return quantifier.startsWith('?') ? [...texts, ''] : [ANY]
  }
  return either()
}

const withoutPlaceholders = (text) => text.replaceAll(PLACEHOLDER, ANY)
/** No expression is longer: documents are literals, too. */
const MAX_LENGTH = 400
const literalLength = (text) => text.replaceAll(ANY, '').length

/** The share of an alternative's own characters that must be those of the text, not of a placeholder. */
const LEAST_SHARE = 0.6

/** Whether `beginning` can begin `text`; both may contain ANY. */
export const canBegin = (beginning, text) => {
  const least = literalLength(beginning) * LEAST_SHARE
  const known = new Map()
  /** The most characters that are equal, from these positions on; -1 if the rest does not match. */
  const most = (i, j) => {
    if (i === beginning.length) return 0
    if (j === text.length) return beginning.slice(i).replaceAll(ANY, '') === '' ? 0 : -1
    const key = i * (text.length + 1) + j
    const before = known.get(key)
    if (before !== undefined) return before
    known.set(key, -1)
    let best = -1
    if (beginning[i] === ANY) best = Math.max(most(i + 1, j), text[j] === ANY ? -1 : most(i, j + 1))
    if (text[j] === ANY) best = Math.max(best, most(i, j + 1), beginning[i] === ANY ? -1 : most(i + 1, j))
    else if (beginning[i] === text[j]) {
      const rest = most(i + 1, j + 1)
      if (rest !== -1) best = Math.max(best, rest + 1)
    }
    known.set(key, best)
    return best
  }
  const found = most(0, 0)
  return found !== -1 && found >= least
}

/** Both begin with characters that do not vary, and these differ: the usual case. */
const differAtOnce = (one, other) => {
  const end = Math.min(...[one, other].map((text) => (text.includes(ANY) ? text.indexOf(ANY) : text.length)))
  return one.slice(0, end) !== other.slice(0, end)
}

/** Returns a function from a text of the source to the alternative that it can be; undefined if it is none. */
export const createMatcher = (expression, prefixes = ['']) => {
  const alternatives = alternativesOf(expression)
  const regular = new RegExp(`^(?:${expression})`)
  const isExact = expression.endsWith('$')
  return (whole) => {
    // The agent compares the text after this word.
    const text = whole.slice(0, MAX_LENGTH).replace(/^FATAL: /, '')
    for (const prefix of prefixes) {
      const shown = withoutPlaceholders(prefix + text)
      const found = alternatives.find(
        (one) => !differAtOnce(one, shown) && canBegin(one, shown) && (!isExact || canBegin(shown, one)),
      )
      if (found !== undefined && literalLength(found) >= 4) return found
      // What an alternative leaves open the text may have literally, and a lookahead may exclude it.
      if (regular.test((prefix + text).replaceAll(PLACEHOLDER, '7'))) return found ?? alternatives[0]
    }
    return undefined
  }
}
