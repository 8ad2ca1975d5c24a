// The possible mutations of a rule: every comparator, number, duration, matcher, join, function, label and annotation.

/**
 * The parts of a PromQL expression that can be mutated, with their positions. `isNotNew` of src/health/rules/rule.ts changes
 * nothing in Prometheus: test/prometheus/remote-write.test.ts tests it.
 */
const TOKEN =
  /(?<comment>#[^\n]*)|(?<guard>\band rate\((?:[^()"]|"[^"]*")*\) != 0)|(?<text>"(?:[^"\\]|\\.)*"|'[^']*')|(?<duration>\b\d+(?:\.\d+)?(?:ms|[smhdwy])(?:\d+(?:ms|[smhdwy]))*\b)|(?<number>(?<![\w.])\d+(?:\.\d+)?(?:e[+-]?\d+)?\b)|(?<matcher>=~|!~)|(?<comparator>==|!=|>=|<=|>|<)|(?<equals>=)|(?<word>[a-zA-Z_:][\w:]*)|(?<bracket>[{}])/g

const COMPARATORS = {
  '>': ['>=', '<'],
  '<': ['<=', '>'],
  '>=': ['>', '<'],
  '<=': ['<', '>'],
  '==': ['!='],
  '!=': ['=='],
}
const WORDS = {
  and: ['or', 'unless'],
  or: ['unless'],
  unless: ['and'],
  max: ['min'],
  min: ['max'],
  sum: ['max'],
  avg: ['max'],
  count: ['sum'],
  rate: ['increase'],
  increase: ['rate'],
  changes: ['resets'],
  delta: ['increase'],
  absent: ['count'],
  max_over_time: ['min_over_time'],
  min_over_time: ['max_over_time'],
  avg_over_time: ['max_over_time'],
  sum_over_time: ['max_over_time'],
}
const UNITS = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400, w: 604_800, y: 31_536_000 }

const seconds = (duration) =>
  [...duration.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdwy])/g)].reduce(
    (total, [, amount, unit]) => total + Number(amount) * UNITS[unit],
    0,
  )
/** Twice as long, and half as long. */
const otherDurations = (duration) => [2, 0.5].map((factor) => `${Math.max(1, Math.round(seconds(duration) * factor))}s`)

const otherNumbers = (text) => {
  const value = Number(text)
  if (value === 0) return ['1']
  return [String(value * 2), String(value / 2)]
}

/** Every expression that differs from this one in one place: the change and the result. */
const mutateExpression = (expression) => {
  const mutants = []
  let inBraces = false
  const put = (token, replacement) => {
    const text = expression.slice(0, token.index) + replacement + expression.slice(token.index + token[0].length)
    mutants.push([`${token[0]} → ${replacement} at ${token.index}`, text])
  }
  for (const token of expression.matchAll(TOKEN)) {
    const { text, duration, number, matcher, comparator, equals, word, bracket } = token.groups
    if (bracket) inBraces = bracket === '{'
    else if (text && inBraces) put(token, `${text.slice(0, -1)}x${text.slice(-1)}`)
    else if (matcher) put(token, matcher === '=~' ? '!~' : '=~')
    else if (equals && inBraces) put(token, '!=')
    else if (comparator && inBraces) put(token, '=')
    else if (comparator) for (const other of COMPARATORS[comparator]) put(token, other)
    else if (duration) for (const other of otherDurations(duration)) put(token, other)
    else if (number && !inBraces) for (const other of otherNumbers(number)) put(token, other)
    else if (word && !inBraces) for (const other of WORDS[word] ?? []) put(token, other)
  }
  // A join or an aggregation that no longer distinguishes nodes. The same without `cluster` is found by
  // test/alerts/fleet.test.ts, for every rule.
  for (const token of expression.matchAll(/\b(on|by|ignoring) ?\(([^()]*)\)/g)) {
    const labels = token[2]
      .split(',')
      .map((label) => label.trim())
      .filter((label) => label !== '')
    const rest = labels.filter((label) => label !== 'instance')
    if (rest.length < labels.length) put(token, `${token[1]} (${rest.join(', ')})`)
    for (const label of labels.filter((one) => !['instance', 'job', 'cluster'].includes(one))) {
      put(token, `${token[1]} (${labels.filter((one) => one !== label).join(', ')})`)
    }
  }
  return mutants
}

/** Every rule that differs from this one in one property; undefined is a removed rule. */
export const mutateRule = (rule) => {
  const mutants = mutateExpression(rule.expr).map(([what, expr]) => [`expr: ${what}`, { ...rule, expr }])
  if (rule.for !== undefined) {
    for (const duration of otherDurations(rule.for)) {
      mutants.push([`for: ${rule.for} → ${duration}`, { ...rule, for: duration }])
    }
  }
  if (rule.alert === undefined) return mutants
  if (rule.keep_firing_for !== undefined) {
    const { keep_firing_for: gone, ...rest } = rule
    mutants.push([`keep_firing_for: ${gone} → none`, rest])
  }
  for (const kind of ['labels', 'annotations']) {
    for (const [name, value] of Object.entries(rule[kind] ?? {})) {
      const changed = { ...rule, [kind]: { ...rule[kind], [name]: `${value}x` } }
      mutants.push([`${kind}.${name} changed`, changed])
    }
  }
  mutants.push(['the rule is gone', undefined])
  return mutants
}
