// Mutates one property of a rules file at a time, and runs its unit tests: a mutant that no test detects survives, and
// shows that a test is missing.
//
//   node scripts/mutate-alerts.mjs [consensus …] [--alert ChainBlockStalled …] [--promtool FILE] [--json]
//
// Progress is on stderr. Exits with 1 if a mutant survives or an alert has fewer than eight.
import { execFile } from 'node:child_process'
import { access, copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { parse, stringify } from 'yaml'

/**
 * `isNotNew` of src/health/rules/rule.ts, which changes nothing in Prometheus (test/prometheus/remote-write.test.ts tests it),
 * but would hide a change of the increase before it: mutants are without it.
 */
const IS_NOT_NEW = /\s*\band rate\((?:[^()"]|"[^"]*")*\) != 0/g
/** The parts of a PromQL expression that can be mutated, with their positions. */
const TOKEN =
  /(?<comment>#[^\n]*)|(?<text>"(?:[^"\\]|\\.)*"|'[^']*')|(?<duration>\b\d+(?:\.\d+)?(?:ms|[smhdwy])(?:\d+(?:ms|[smhdwy]))*\b)|(?<number>(?<![\w.])\d+(?:\.\d+)?(?:e[+-]?\d+)?\b)|(?<matcher>=~|!~)|(?<comparator>==|!=|>=|<=|>|<)|(?<equals>=)|(?<word>[a-zA-Z_:][\w:]*)|(?<bracket>[{}])/g

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
/** A test of a longer range, of 46,000 evaluations for a week, takes a minute and a half. */
const LONGEST_S = 2 * UNITS.d

/** Twice as long, and half as long. */
const otherDurations = (duration) => [2, 0.5].map((factor) => `${Math.max(1, Math.round(seconds(duration) * factor))}s`)

/** How many evaluations last that long, by the interval of the tests. */
const evaluations = (duration) => Math.ceil(seconds(duration) / 15)

const otherNumbers = (text, before) => {
  const value = Number(text)
  // Prometheus extrapolates an increase of one to more than one.
  if (value === 0) return [/\bincrease\([^)]*\) > $/.test(before) ? '2' : '1']
  return [String(value * 2), String(value / 2)]
}

/** No series has it. Of many alternatives, which are generated from a list, all are replaced; of few, the last one. */
const otherText = (text) =>
  text.split('|').length > 10
    ? `${text[0]}(?:${text.slice(1, -1)})x${text[0]}`
    : `${text.slice(0, -1)}x${text.slice(-1)}`

/** Whether only the sign of a rate counts, which is that of the increase; or a number of groups, each of which is 1. */
const isTheSame = (expression) =>
  /^(?:rate|increase)\((?:[^()"]|"[^"]*")*\) (?:>|==) 0(?! )|^count by \([^)]*\) \(group /.test(expression)

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
    else if (text && inBraces) put(token, otherText(text))
    else if (matcher) put(token, matcher === '=~' ? '!~' : '=~')
    else if (equals && inBraces) put(token, '!=')
    else if (comparator && inBraces) put(token, '=')
    else if (comparator) for (const other of COMPARATORS[comparator]) put(token, other)
    else if (duration && seconds(duration) <= LONGEST_S) for (const other of otherDurations(duration)) put(token, other)
    else if (number && !inBraces)
      for (const other of otherNumbers(number, expression.slice(0, token.index))) put(token, other)
    else if (word && !inBraces && !isTheSame(expression.slice(token.index)))
      for (const other of WORDS[word] ?? []) put(token, other)
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
const mutateRule = (rule) => {
  const mutants = mutateExpression(rule.expr.replaceAll(IS_NOT_NEW, '')).map(([what, expr]) => [
    `expr: ${what}`,
    { ...rule, expr },
  ])
  if (rule.for !== undefined) {
    for (const duration of otherDurations(rule.for).filter((other) => evaluations(other) !== evaluations(rule.for))) {
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

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const ALERTS = join(ROOT, 'alerts')
const LEAST_PER_ALERT = 8
const AT_ONCE = 2

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    promtool: { type: 'string', default: join(ROOT, '.cache/debian/prometheus-3.5/usr/bin/promtool') },
    alert: { type: 'string', multiple: true, default: [] },
    json: { type: 'boolean', default: false },
  },
})

const run = promisify(execFile)
await access(values.promtool).catch(() => {
  throw new Error(`no promtool at ${values.promtool}: npx vitest run test/alerts/rules downloads it`)
})

/** `killed` by the tests, `survived` them, or `invalid`: not a valid rules file. */
const judge = async (name, text, tests) => {
  const place = await mkdtemp(join(tmpdir(), 'chain-mutant-'))
  try {
    for (const file of await readdir(ALERTS)) {
      if (file.endsWith('.yaml')) await copyFile(join(ALERTS, file), join(place, file))
    }
    await writeFile(join(place, `${name}.rules.yaml`), text)
    await writeFile(join(place, `${name}.test.yaml`), tests)
    const options = { cwd: place, maxBuffer: 64 * 1024 * 1024 }
    const { stderr } = await run(values.promtool, ['test', 'rules', `${name}.test.yaml`], options)
    // Without rules promtool prints SUCCESS.
    return /no file match/i.test(stderr) ? 'untested' : 'survived'
  } catch (error) {
    const output = `${error.stdout}${error.stderr}`
    return /could not parse expression|parse error|group ".*", rule \d+/.test(output) && !/FAILED:/.test(output)
      ? 'invalid'
      : 'killed'
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}

/** The tests of this alert: it cannot affect tests of other alerts. A recording rule affects all tests. */
const testsOf = (tests, { alert }) =>
  alert === undefined
    ? tests
    : {
        ...tests,
        tests: tests.tests.flatMap((test) => {
          const cases = (test.alert_rule_test ?? []).filter(({ alertname }) => alertname === alert)
          return cases.length === 0 ? [] : [{ ...test, alert_rule_test: cases, promql_expr_test: [] }]
        }),
      }

const examine = async (name) => {
  const file = parse(await readFile(join(ALERTS, `${name}.rules.yaml`), 'utf8'))
  const tests = parse(await readFile(join(ALERTS, `${name}.test.yaml`), 'utf8'))
  const whole = await judge(name, stringify(file), stringify(tests))
  if (whole !== 'survived') {
    throw new Error(
      `${name}: the rules as they are must pass their tests first: npx vitest run test/alerts/rules -t ${name}`,
    )
  }
  const isAsked = ({ alert }) => values.alert.length === 0 || values.alert.includes(alert)
  const tasks = file.groups.flatMap((group, groupAt) =>
    group.rules.flatMap((rule, ruleAt) =>
      (isAsked(rule) ? mutateRule(rule) : []).map(([what, mutant]) => ({ rule, what, mutant, groupAt, ruleAt })),
    ),
  )
  /** The mutant, the recording rules, and the other severities of the same alert. */
  const textOf = ({ rule: { alert }, mutant, groupAt, ruleAt }) =>
    stringify({
      groups: file.groups.map((group, at) => ({
        ...group,
        rules: group.rules.flatMap((rule, index) => {
          if (at === groupAt && index === ruleAt) return mutant === undefined ? [] : [mutant]
          const matters = alert === undefined || rule.alert === undefined || rule.alert === alert
          return matters ? [rule] : []
        }),
      })),
    })
  const results = []
  const queue = [...tasks]
  const work = async () => {
    for (let task = queue.shift(); task; task = queue.shift()) {
      results.push({
        ...task,
        verdict: await judge(name, textOf(task), stringify(testsOf(tests, task.rule))),
      })
      if (results.length % 50 === 0) console.error(`${name}: ${results.length} of ${tasks.length} mutants`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  const valid = results.filter(({ verdict }) => verdict !== 'invalid')
  const survivors = valid.filter(({ verdict }) => verdict === 'survived')
  const rules = file.groups.flatMap((group) => group.rules)
  const alerts = rules.filter((rule) => rule.alert !== undefined && isAsked(rule))
  const label = ({ alert, record, labels }) =>
    `${alert ?? record}${labels?.why ? `.${labels.why}` : ''}${labels?.severity ? ` (${labels.severity})` : ''}`
  const scarce = alerts
    .map((rule) => [label(rule), valid.filter((one) => one.rule === rule).length])
    .filter(([, count]) => count < LEAST_PER_ALERT)
  return {
    name,
    alerts: alerts.length,
    mutants: valid.length,
    survivors: survivors.map(({ rule, what }) => `${label(rule)}: ${what}`),
    scarce: scarce.map(([alert, count]) => `${alert}: ${count} mutants`),
  }
}

let isBad = false
const found = []
const names =
  positionals.length > 0
    ? positionals
    : (await readdir(ALERTS))
        .filter((file) => file.endsWith('.test.yaml'))
        .map((file) => file.replace('.test.yaml', ''))
for (const name of names) {
  const result = await examine(name)
  if (values.alert.length > 0 && result.alerts === 0) continue
  found.push(result)
  isBad ||= result.survivors.length > 0 || result.scarce.length > 0
  if (values.json) continue
  for (const survivor of result.survivors) console.log(`SURVIVOR ${survivor}`)
  for (const one of result.scarce) console.log(`TOO FEW ${one}`)
  console.log(`${name}: ${result.alerts} alerts, ${result.mutants} mutants, ${result.survivors.length} survivors`)
}
if (found.length === 0) throw new Error(`no rule of ${values.alert.join(', ')} in ${names.join(', ')}`)
if (values.json) console.log(JSON.stringify(found))
process.exitCode = isBad ? 1 : 0
