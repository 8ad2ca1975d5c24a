// The warnings, errors and ends of the process in the node's source, and the names that the agent has for them.
import { createHash } from 'node:crypto'
import { groupOf, placeOf } from './compare.mjs'
import { createMatcher, ERROR_PREFIXES } from './match.mjs'

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
          .map(({ name, text, isBare }) => ({
            name,
            isBare,
            test: createMatcher(text, isBare ? ERROR_PREFIXES : ['']),
          })),
      )
    }
    return matchersOf.get(service)
  }
  const parsed = messages.map(({ name, expression, service }) => ({ name, service, test: createMatcher(expression) }))
  const nameOf = (service, kind, text) => {
    const pattern = matchers(service).find(
      ({ isBare, test }) => (kind === 'ends' || !isBare) && test(text) !== undefined,
    )
    if (pattern) return pattern.name
    return parsed.find((one) => one.service === service && test(one, text))?.name ?? null
  }
  const test = (one, text) => one.test(text) !== undefined
  return index.runPaths.flatMap((path) => {
    const service = serviceOf(path)
    return index
      .sourceOf(path)
      .texts.filter(({ kind }) => REPORTED_KINDS.has(kind))
      .map(({ kind, text, line, function: name }) => ({
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
