// Compares what the agent knows about the node with the node's source.
import { createHash } from 'node:crypto'
import { readSource } from './messages.mjs'
import { createMatcher, ERROR_PREFIXES } from './match.mjs'
import { createMetricIndex } from './metric-names.mjs'
import { createScope, groupOf } from './scope.mjs'

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

const placeOf = (file, name) => `${file}:${name ?? '(no function)'}`
const lastPart = (name) => name.split('::').at(-1).replace(/!$/, '')

/** What a definition of the agent names, and where it is in the source now. */
const finding = (kind, subject, detail) => ({ kind, ...subject, ...detail })

/** Every text of the source: `test` selects. The declared functions first, then the same file, then all others. */
const findPlaces = (index, test, paths) =>
  paths.flatMap((path) =>
    (index.sourceOf(path)?.texts ?? [])
      .filter(({ text }) => text !== null && test(text) !== undefined)
      .map(({ function: name, kind, line }) => ({ file: path, function: name, kind, line })),
  )

const isDeclared = ({ file, function: name }, sources) =>
  sources.some((source) => source.file === file && lastPart(source.function) === name)

/** Compares the texts of one definition: each of its sources, then the places that it does not name. */
const compareTexts = (index, subject, sources, matchers) => {
  const findings = []
  const compared = sources.filter(({ file }) => index.has(file))
  const isMatch = (text) => matchers.find(({ test }) => test(text) !== undefined)
  for (const source of compared) {
    const here = index.sourceOf(source.file)
    const own = (here?.texts ?? []).filter((one) => one.function === lastPart(source.function))
    if (own.some(({ text }) => text !== null && isMatch(text))) continue
    const elsewhere = findPlaces(index, isMatch, [source.file, ...index.runPaths]).find(
      (place) => !isDeclared(place, sources),
    )
    findings.push(
      elsewhere
        ? finding('moved', subject, { from: placeOf(source.file, source.function), to: placeOf(elsewhere.file, elsewhere.function) })
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
  const texts = files.flatMap((file) => index.sourceOf(file)?.texts ?? []).flatMap(({ text }) => text ?? [])
  return splitAlternatives(expression).filter((one) => {
    const test = createMatcher(one, ERROR_PREFIXES)
    return !texts.some((text) => test(text) !== undefined)
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

const comparePattern = (index, pattern) => {
  const subject = { what: 'pattern', name: pattern.name }
  const matchers = [{ test: createMatcher(pattern.text, ERROR_PREFIXES) }]
  return [
    ...compareTexts(index, subject, pattern.sources, matchers),
    ...unusedAlternatives(index, pattern).map((text) => finding('alternative', subject, { text })),
  ]
}

const compareMessage = (index, { name, expression, sources }) =>
  compareTexts(index, { what: 'message', name }, sources, [{ test: createMatcher(expression) }])

const words = (text) => new Set(text.replaceAll(/(?<=\d)_(?=\d)/g, '').match(/\w+/g) ?? [])

/** A line of the function that has the identifier and everything of the value. */
const compareFact = (index, id, { source, identifier, written, value }) => {
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
  return [lines.some(isHere) ? finding('changed', subject, { from, text: `${identifier} is no longer ${value}` }) : finding('gone', subject, { from })]
}

const compareMetric = (index, metricIndex, metric) => {
  if (!index.has('monad-bft/')) return []
  const subject = { what: 'metric', name: metric.name }
  const constants = metricIndex.get(metric.name)
  if (constants === undefined) return metric.isUnmerged ? [] : [finding('gone', subject, { from: metric.source.file })]
  if (metric.isUnmerged) return [finding('merged', subject, { to: constants[0].file })]
  const from = placeOf(metric.source.file, metric.source.function)
  const identifiers = [...constants.map(({ identifier }) => identifier), ...(metric.identifier ? [metric.identifier] : [])]
  const uses = (path) => {
    const here = index.sourceOf(path)
    if (!here || !identifiers.some((one) => here.code.includes(one))) return []
    const expression = new RegExp(`\\b(?:${identifiers.join('|')})\\b`, 'g')
    return [...here.code.matchAll(expression)].map((match) => here.itemAt(match.index))
  }
  if (uses(metric.source.file).includes(lastPart(metric.source.function))) return []
  const [other] = index.runPaths
    .flatMap((path) => uses(path).map((name) => ({ path, name })))
    .filter(({ path, name }) => name !== null && !/^(?:init_|new$|metric_handles$|[A-Z])/.test(name) && path.endsWith('.rs'))
  return [other ? finding('moved', subject, { from, to: placeOf(other.path, other.name) }) : finding('gone', subject, { from })]
}

/** Everything that a definition names and the source no longer has, or has in another place. */
export const compareDefinitions = (index, { patterns, messages, metrics, facts }) => {
  const metricIndex = createMetricIndex(index)
  return [
    ...patterns.flatMap((pattern) => comparePattern(index, pattern)),
    ...messages.flatMap((message) => compareMessage(index, message)),
    ...metrics.flatMap((metric) => compareMetric(index, metricIndex, metric)),
    ...Object.entries(facts).flatMap(([id, fact]) => compareFact(index, id, fact)),
  ]
}

const REPORTED_KINDS = new Set(['warn', 'error', 'ends'])
/** Patterns that name every end of a process, whatever its text is. */
const GENERAL = new Set(['panic', 'assertion', 'abort', 'start_refused', 'rpc_not_started', 'exception'])

const serviceOf = (path) => {
  if (path.startsWith('monad/')) return 'execution'
  return path.startsWith('monad-bft/monad-rpc/') ? 'rpc' : 'bft'
}

const hashOf = (kind, text) => createHash('sha256').update(`${kind} ${text}`).digest('hex').slice(0, 8)

/** The warnings, errors and ends of the process in the code of the node's programs, each with the name that it has. */
export const listReports = (index, { patternsOf, messages }) => {
  const matchersOf = new Map()
  const matchers = (service) => {
    if (!matchersOf.has(service)) {
      matchersOf.set(
        service,
        patternsOf(service)
          .filter(({ name }) => !GENERAL.has(name))
          .map(({ name, text, isBare }) => ({ name, isBare, test: createMatcher(text, isBare ? ERROR_PREFIXES : ['']) })),
      )
    }
    return matchersOf.get(service)
  }
  const parsed = messages.map(({ name, expression, service }) => ({ name, service, test: createMatcher(expression) }))
  const nameOf = (service, kind, text) => {
    const pattern = matchers(service).find(({ isBare, test }) => (kind === 'ends' || !isBare) && test(text) !== undefined)
    if (pattern) return pattern.name
    return parsed.find((one) => one.service === service && test(one, text))?.name ?? null
  }
  const test = (one, text) => one.test(text) !== undefined
  return index.runPaths.flatMap((path) => {
    const service = serviceOf(path)
    return index
      .sourceOf(path)
      .texts.filter(({ kind }) => REPORTED_KINDS.has(kind))
      .map(({ kind, text, condition, line, function: name }) => ({
        group: groupOf(path),
        place: placeOf(path, name),
        line,
        kind,
        text,
        name: text === null ? null : nameOf(service, kind, text),
        hash: text === null ? null : hashOf(kind, text),
      }))
  })
}
