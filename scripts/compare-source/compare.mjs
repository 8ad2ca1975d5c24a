// Compares what the agent knows about the node with the node's source.
import { readSource } from './messages.mjs'
import { alternativesOf, createMatcher, ERROR_PREFIXES } from './match.mjs'
import { parse } from 'smol-toml'

/** `files`: path with its repository → text, of one or more repositories. */
export const createSourceIndex = (files) => {
  const isRun = createScope(files)
  const read = new Map()
  const sourceOf = (path) => {
    const text = files.get(path)
    if (text === undefined) return undefined
    if (!read.has(path)) read.set(path, readSource(path, text))
    return read.get(path)
  }
  const repositories = new Set([...files.keys()].map((path) => path.split('/')[0]))
  const runPaths = [...files.keys()].filter(isRun)
  return { files, sourceOf, runPaths, has: (path) => repositories.has(path.split('/')[0]) }
}

export const placeOf = (file, name) => `${file}:${name ?? '(no function)'}`
const lastPart = (name) => name.split('::').at(-1).replace(/!$/, '')

/** What a definition of the agent names, and where it is in the source now. */
const finding = (kind, subject, detail) => ({ kind, ...subject, ...detail })

/** Every text of the source: `test` selects. The declared functions first, then the same file, then all others. */
const findPlaces = (index, test, paths) =>
  paths.flatMap((path) =>
    (index.sourceOf(path)?.texts ?? [])
      .filter(({ printed }) => printed !== null && test(printed) !== undefined)
      .map(({ function: name, kind, line }) => ({ file: path, function: name, kind, line })),
  )

const isDeclared = ({ file, function: name }, sources) =>
  sources.some((source) => source.file === file && lastPart(source.function) === name)

/** A text that a macro makes of identifiers, for example of the variants of an error. */
const hasIdentifier = (here, name, matchers) => {
  const found = identifiersOf(matchers.flatMap(({ alternatives }) => alternatives))
  return found.some((one) => here.code.includes(one)) && new RegExp(`\\b${name}\\b`).test(here.code)
}

const identifiersOf = (texts) => texts.flatMap((one) => one.match(/[A-Z][a-z]+[A-Z]\w{6,}/g) ?? [])

/** Compares the texts of one definition: each of its sources, then the places that it does not name. */
const compareTexts = (index, subject, { sources, matchers }) => {
  const findings = []
  const compared = sources.filter(({ file }) => index.has(file))
  const isMatch = (text) => matchers.find(({ test }) => test(text) !== undefined)
  for (const source of compared) {
    const here = index.sourceOf(source.file)
    const own = (here?.texts ?? []).filter(
      (one) => here.language === null || one.function === lastPart(source.function),
    )
    if (own.some(({ printed }) => printed !== null && isMatch(printed))) continue
    if (here && hasIdentifier(here, lastPart(source.function), matchers)) continue
    const elsewhere = findPlaces(index, isMatch, [source.file, ...index.runPaths]).find(
      (place) => !isDeclared(place, sources),
    )
    findings.push(
      elsewhere
        ? finding('moved', subject, {
            from: placeOf(source.file, source.function),
            to: placeOf(elsewhere.file, elsewhere.function),
          })
        : finding('gone', subject, { from: placeOf(source.file, source.function) }),
    )
  }
  return findings
}

/** Alternatives of an expression that no text of its sources has: texts of earlier versions, or mistyped ones. */
const unusedAlternatives = (index, { text: expression, sources }) => {
  const compared = sources.filter(({ file }) => index.has(file))
  if (compared.length < sources.length || compared.length === 0) return []
  const files = [...new Set(compared.map(({ file }) => file))]
  const texts = files.flatMap((file) => index.sourceOf(file)?.texts ?? []).flatMap(({ printed }) => printed ?? [])
  return splitAlternatives(expression).filter((one) => {
    const test = createMatcher(one, ERROR_PREFIXES)
    const identifiers = identifiersOf(alternativesOf(one))
    const hasOne = files.some((file) => identifiers.some((name) => index.sourceOf(file)?.code.includes(name)))
    return !hasOne && !texts.some((text) => test(text) !== undefined)
  })
}

/** The alternatives of an expression that is one group, or has one at its beginning; the expression itself otherwise. */
const splitAlternatives = (expression) => {
  const group = /^\(\?:(.*)\)$/s.exec(expression)
  if (!group) return [expression]
  const parts = []
  let [depth, part] = [0, '']
  for (let at = 0; at < group[1].length; at++) {
    const character = group[1][at]
    if (character === '\\') {
      part += character + group[1][++at]
      continue
    }
    if (character === '(') depth++
    if (character === ')' && --depth < 0) return [expression]
    if (character === '|' && depth === 0) {
      parts.push(part)
      part = ''
    } else part += character
  }
  return [...parts, part]
}

const matcherOf = (expression, prefixes) => ({
  test: createMatcher(expression, prefixes),
  alternatives: alternativesOf(expression),
})

const comparePattern = (index, pattern) => {
  const subject = { what: 'pattern', name: pattern.name }
  const matchers = [matcherOf(pattern.text, ERROR_PREFIXES)]
  return [
    ...compareTexts(index, subject, { sources: pattern.sources, matchers }),
    ...unusedAlternatives(index, pattern).map((text) => finding('alternative', subject, { text })),
  ]
}

const compareMessage = (index, { name, expression, sources }) =>
  compareTexts(index, { what: 'message', name }, { sources, matchers: [matcherOf(expression)] })

/** Identifiers and numbers; `10_000` and `10'000` are 10000. */
const words = (text) =>
  new Set(
    (text.replaceAll(/(?<=\d)'(?=\d)/g, '').match(/\w+/g) ?? []).map((one) =>
      /^\d/.test(one) ? one.replaceAll('_', '') : one,
    ),
  )

/** A line of the function that has the identifier and everything of the value. */
const compareFact = (
  index,
  { name: id, sources: [source], value, identifier = source.function, written = [String(value)] },
) => {
  if (!index.has(source.file)) return []
  const subject = { what: 'fact', name: id }
  const from = placeOf(source.file, source.function)
  const here = index.sourceOf(source.file)
  if (here === undefined) return [finding('gone', subject, { from })]
  const starts = [0]
  for (const line of here.lines) starts.push(starts.at(-1) + line.length + 1)
  const lines = here.lines
    .map((line, at) => ({ words: words(line), function: here.itemAt(starts[at]) }))
    .filter(({ words: own }) => own.has(identifier))
  const isHere = (line) => line.function === source.function || line.words.has(source.function)
  const equal = lines.filter((line) => written.every((word) => line.words.has(word)))
  if (equal.some(isHere)) return []
  const [other] = equal
  if (other) return [finding('moved', subject, { from, to: placeOf(source.file, other.function) })]
  return [
    lines.some(isHere)
      ? finding('changed', subject, { from, text: `${identifier} is no longer ${value}` })
      : finding('gone', subject, { from }),
  ]
}

const compareMetric = (index, metricIndex, { name, sources, identifier }) => {
  if (!index.has('monad-bft/')) return []
  const subject = { what: 'metric', name }
  const constants = metricIndex.get(name)
  if (constants === undefined) return [finding('gone', subject, { from: sources[0].file })]
  const identifiers = [...constants.map((one) => one.identifier), ...(identifier ? [identifier] : [])]
  const expression = new RegExp(`\\b(?:${identifiers.join('|')})\\b`, 'g')
  const usesOf = (path) => {
    const here = index.sourceOf(path)
    if (!here || !identifiers.some((one) => here.code.includes(one))) return []
    return [...here.code.matchAll(expression)].map((match) => ({ file: path, function: here.itemAt(match.index) }))
  }
  return sources.flatMap((source) => {
    const from = placeOf(source.file, source.function)
    if (usesOf(source.file).some((use) => use.function === lastPart(source.function))) return []
    const other = index.runPaths.flatMap(usesOf).find((use) => isCounting(use) && !isDeclared(use, sources))
    return [
      other
        ? finding('moved', subject, { from, to: placeOf(other.file, other.function) })
        : finding('gone', subject, { from }),
    ]
  })
}

/** Not a definition, a registration or a type. */
const isCounting = ({ file, function: name }) =>
  file.endsWith('.rs') && name !== null && !/^(?:init_|new$|metric_handles$|from|[A-Z])/.test(name)

/** Everything that a definition names and the source no longer has, or has in another place. */
export const compareDefinitions = (index, { patterns, messages, metrics, facts }) => {
  const metricIndex = createMetricIndex(index)
  return [
    ...patterns.flatMap((pattern) => comparePattern(index, pattern)),
    ...messages.flatMap((message) => compareMessage(index, message)),
    ...metrics.flatMap((metric) => compareMetric(index, metricIndex, metric)),
    ...facts.flatMap((fact) => compareFact(index, fact)),
  ]
}

// The metrics that the node defines: name without its first part → the constants or fields that hold them.

const CONSTANT = /(\w+)\s*\{\s*name:\s*"\w+?[._]([\w.]+)"/g
/** `MetricDef::new(concat!("monad.wireauth.", $transport, ".state.…"))` as the value of a field. */
const FIELD = /(\w+):\s*&?(?:\w+::)*MetricDef::new\(\s*concat!\(\s*"\w+?[._]([\w.]*)",\s*\$\w+,\s*"([\w.]+)"/g
/** `(Class, class_field, [(name, "help"), …])` of the state's own macro. */
const STATE_CLASS = /\(\s*[A-Z]\w*,\s*(\w+),\s*\[([^\]]*)\]/g

const withUnderscores = (name) => name.replaceAll('.', '_')

const createMetricIndex = ({ files }) => {
  const byName = new Map()
  const add = (name, identifier, file) => byName.set(name, [...(byName.get(name) ?? []), { identifier, file }])
  for (const [file, text] of files) {
    if (!file.startsWith('monad-bft/') || !file.endsWith('.rs')) continue
    for (const [, identifier, name] of text.matchAll(CONSTANT)) add(withUnderscores(name), identifier, file)
    for (const [, identifier, first, last] of text.matchAll(FIELD)) {
      for (const transport of ['udp', 'tcp']) add(withUnderscores(`${first}${transport}${last}`), identifier, file)
    }
    for (const [, field, list] of text.matchAll(STATE_CLASS)) {
      for (const [, name] of list.matchAll(/\(\s*(\w+),/g)) add(`state_${field}_${name}`, name, file)
    }
  }
  return byName
}

const PROGRAMS = ['monad-node', 'monad-rpc']
const NOT_RUN = /(?:^|\/)(?:tests?|examples|bin|benches|benchmarks?|unittests?|fuzz\w*|fuzzer|testing)\//
const TEST_FILE = /(?:^|[_/])(?:tests?|bench|fuzz\w*|test_\w+)\.(?:rs|c|cpp|hpp|h)$|build\.rs$/

/** The first two parts of a path in `monad`, the crate in `monad-bft`. */
export const groupOf = (path) => {
  const [repository, first, second] = path.split('/')
  return repository === 'monad' && first === 'category' ? `${repository}/${first}/${second}` : `${repository}/${first}`
}

/** Rust: the programs and what they depend on. C++: `category` and the program `cmd/monad`. */
const createScope = (files) => {
  const crates = cratesOf(files)
  return (path) => {
    if (NOT_RUN.test(path) || TEST_FILE.test(path)) return false
    if (path.startsWith('monad-bft/')) return path.endsWith('.rs') && crates.has(path.split('/')[1])
    return /^monad\/(?:category\/|cmd\/monad\/)/.test(path)
  }
}

const cratesOf = (files) => {
  const crates = new Set()
  const queue = [...PROGRAMS]
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    const manifest = files.get(`monad-bft/${name}/Cargo.toml`)
    if (manifest === undefined || crates.has(name)) continue
    crates.add(name)
    queue.push(...Object.keys(parse(manifest).dependencies ?? {}))
  }
  return crates
}
