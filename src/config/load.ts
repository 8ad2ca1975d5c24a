import { isDeepStrictEqual } from 'node:util'
import { COLLECTORS } from '../collectors/index.ts'
import { systemClock } from '../core/clock.ts'
import { maskAddresses } from '../core/redaction/redact.ts'
import { closestMatch } from '../core/suggest.ts'
import {
  type ConfigFile,
  describeIssues,
  expectation,
  parseConfigFile,
  parseValue,
  problemsError,
  readText,
  sectionsOf,
  similarKey,
  valueAt,
} from './file.ts'
import { type Key, keys, type Config, removedKeys, schema, WATCHER_COLLECTORS } from './schema.ts'
import { readForks } from './forks.ts'
import { type SourceInputs, sourceOf } from './source.ts'

/** The sources of a value besides its default, lowest precedence first. */
export interface Inputs {
  readonly file?: ConfigFile | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  /** `key.path=value`, with the argument as typed by the operator. */
  readonly flags: readonly Readonly<Record<'path' | 'value' | 'typed', string>>[]
}

/** The effective value of one key, as written, and its origin. */
export interface Setting {
  readonly path: string
  readonly value: unknown
  /** `default`, `agent.yaml:3`, `CHAIN_AGENT_LISTEN` or `--listen`. */
  readonly origin: string
}

/** Variables that other modules read; not configuration keys. */
const OTHER_VARIABLES = ['CHAIN_AGENT_CONFIG', 'CHAIN_AGENT_API_KEY']
const PREFIX = 'CHAIN_AGENT_'
const PATHS = keys.map(({ path }) => path)

/** Merges the configuration. Throws one ConfigError that lists every problem. */
export const loadConfig = ({ file, env, flags }: Inputs) => {
  const problems: string[] = []
  const origins = new Map<string, string>()
  const sections = structuredClone(sectionsOf(file?.value))
  const tree: Tree = isTree(sections) ? sections : {}
  if (file && !isTree(sections)) problems.push(`${file.name}:1: expected keys and values`)

  const put = ({ path, isText }: Key, text: string, origin: string): void => {
    setAt(tree, path, isText ? text : parseValue(text))
    origins.set(path, origin)
  }

  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith(PREFIX) || text === undefined) continue
    if (OTHER_VARIABLES.includes(variable)) continue
    const key = keys.find((candidate) => candidate.variable === variable)
    if (key) put(key, text, variable)
    else problems.push(`${variable}: no such setting${variableHint(variable)}`)
  }
  const byFlag = new Map<string, string>()
  for (const { path, value, typed } of flags) {
    const before = byFlag.get(path) ?? typed
    byFlag.set(path, typed)
    if (before !== typed) problems.push(`${before} and ${typed} set the same key; use only one of them`)
    const key = keys.find((candidate) => candidate.path === path)
    if (key) put(key, value, typed)
    else problems.push(`${typed}: no such key: ${path}${keyHint([path], PATHS)}`)
  }

  if (tree['profile'] === 'watcher') {
    for (const name of Object.keys(COLLECTORS)) {
      const section = tree[name] ?? {}
      if (WATCHER_COLLECTORS.includes(name) || !isTree(section) || 'enabled' in section) continue
      tree[name] = { ...section, enabled: false }
      origins.set(`${name}.enabled`, 'profile watcher')
    }
  }

  const parsed = schema.safeParse(tree, { error: expectation })
  const where = (path: readonly PropertyKey[]): string => {
    const origin = originOf(path, origins)
    if (origin !== undefined) return origin
    return file ? `${file.name}:${file.lineOf(path)}` : 'configuration'
  }
  if (!parsed.success || problems.length > 0) {
    const rejected = describeIssues(parsed.error?.issues ?? [], where, (path, isUnknown) =>
      isUnknown ? keyHint(path, siblingsOf(path.slice(0, -1))) : gotHint(path, valueAt(tree, path)),
    )
    throw problemsError([...problems.map((problem) => () => problem), ...rejected])
  }

  const settings = keys.map(({ path, byDefault }): Setting => {
    const steps = path.split('.')
    const value = valueAt(tree, steps)
    return value === undefined ? { path, value: byDefault, origin: 'default' } : { path, value, origin: where(steps) }
  })
  return { config: parsed.data, settings }
}

type Tree = Record<string, unknown>

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value)

const setAt = (tree: Tree, path: string, value: unknown): void => {
  const steps = path.split('.')
  let node = tree
  for (const step of steps.slice(0, -1)) {
    const child = node[step]
    const next: Tree = isTree(child) ? child : {}
    node[step] = next
    node = next
  }
  node[steps.at(-1) ?? path] = value
}

/** An issue inside a value that was set as one (a list, for example) has the origin of that value. */
const originOf = (path: readonly PropertyKey[], origins: ReadonlyMap<string, string>): string | undefined => {
  for (let length = path.length; length > 0; length -= 1) {
    const origin = origins.get(path.slice(0, length).join('.'))
    if (origin !== undefined) return origin
  }
  return undefined
}

/** What applies instead of a removed key, or a key with a similar name. */
const keyHint = (path: readonly PropertyKey[], candidates: readonly string[]): string => {
  const removed = removedKeys.find((key) => key.path === path.join('.'))
  return removed ? `; ${removed.instead}` : similarKey(path, candidates)
}

/** The prefix that all have would make any two of them similar. */
const variableHint = (variable: string): string => {
  const removed = removedKeys.find((key) => key.variable === variable)
  if (removed) return `; ${removed.instead}`
  const names = [...OTHER_VARIABLES, ...keys.map((key) => key.variable)]
  const shortNames = names.map((name) => name.slice(PREFIX.length))
  const meant = closestMatch(variable.slice(PREFIX.length), shortNames)
  return meant === undefined ? '' : `; did you mean ${PREFIX}${meant}?`
}

/** The value, and a similar section: the names of two differ in one letter. */
const gotHint = (path: readonly PropertyKey[], value: unknown): string => {
  const got = `, got ${show(path, value)}`
  if (path.join('.') === 'reference' && Array.isArray(value)) return `${got}; did you mean references?`
  return path.join('.') === 'references' && isTree(value) ? `${got}; did you mean reference?` : got
}

/** The actual value, redacted: a value in place of a URL may contain a key. */
const show = (path: readonly PropertyKey[], value: unknown): string => {
  if (value === undefined) return 'its default'
  const mayBeAddress = path.at(-1) === 'url' || path.at(-1) === 'store'
  const isOddAddress = mayBeAddress && typeof value === 'string' && !HARMLESS.test(value)
  return isOddAddress ? 'something else' : JSON.stringify(maskAddresses(value))
}

const HARMLESS = /^(?:https?:\/\/.*|[\w.-]{0,60}(?::\d{1,5})?)$/i

/** The valid keys at the position of an unknown key. */
const siblingsOf = (path: readonly PropertyKey[]): readonly string[] => {
  if (path[0] === 'references') return ['name', 'url', 'kind', 'apiKeyFile']
  const prefix = path.length === 0 ? '' : `${path.join('.')}.`
  const below = PATHS.filter((key) => key.startsWith(prefix))
  return [...new Set(below.map((key) => key.slice(prefix.length).split('.')[0] ?? ''))]
}

/** The keys whose values differ, in documentation order. */
export const changedKeys = (before: Config, after: Config): readonly string[] =>
  PATHS.filter((path) => {
    const steps = path.split('.')
    return !isDeepStrictEqual(valueAt(before, steps), valueAt(after, steps))
  })

export type LoadedConfig = ReturnType<typeof readConfig>

/** What reads and compares configurations, for a program that does not load the schema of all programs itself. */
export interface ConfigurationReader {
  readonly readConfig: typeof readConfig
  readonly changedKeys: typeof changedKeys
}

/** Loads the configuration of a command. Throws a ConfigError. */
export const readConfig = (path: string | undefined, inputs: Pick<Inputs, 'env' | 'flags'> & SourceInputs) => {
  const source = sourceOf(path, inputs)
  const file = source && parseConfigFile(source.path, readText(source.path, 'the configuration file'))
  const loaded = loadConfig({ ...inputs, file: file ?? undefined })
  readForks(loaded.config.version.forksFile, systemClock.now()) // throws a ConfigError for an invalid file
  return { ...loaded, source }
}
