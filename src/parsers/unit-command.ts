import type { ArgumentKind, KnownArguments } from '../domain/node-arguments.ts'
import { unitLines } from './systemctl.ts'

/** Stands for a value that is not shown. */
export const HIDDEN_VALUE = '(set)'
export const EMPTY_VALUE = '(empty)'
/** Stands for a value that systemd replaces, if its name is not shown. */
const REPLACED_VALUE = '(variable)'
/** Stands for the words that are neither a known option nor its value: its value is their number. */
const OTHER_WORDS = '(other words)'

export interface UnitArgument {
  /** Without dashes, and with `-` for `_`. */
  readonly name: string
  /** Only if the option is known to be harmless, or the name of a variable; otherwise what stands for it. Null without a value. */
  readonly value: string | null
}

/** A command of a unit, without secrets. */
export interface UnitCommand {
  readonly program: string
  readonly arguments: readonly UnitArgument[]
}

/**
 * The commands that a unit file or drop-in adds with ExecStart; `reset` is an empty ExecStart, which removes those
 * before it. Redacted here, at the source: the result has only names of known options, and their values in their form.
 */
export const commandsOf = (text: string, known: KnownArguments): readonly (UnitCommand | 'reset')[] =>
  unitLines(text).flatMap(({ section, line }) => {
    const [, value] = /^\s*ExecStart\s*=(.*)$/.exec(line) ?? []
    if (value === undefined || section !== 'Service') return []
    return [value.trim() === '' ? 'reset' : commandOf(wordsOf(value), known)]
  })

const QUOTED = /"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|((?:[^\s"'\\]|\\.)+)/g

/** The words of a command line, as systemd splits it; adjacent quoted parts are one word. */
const wordsOf = (line: string): readonly string[] => {
  const words: string[] = []
  let end = -1
  for (const { index, 0: all, 1: double, 2: single, 3: plain } of line.matchAll(QUOTED)) {
    // After a quote without its end the words are not known: the rest is one.
    if (line.slice(Math.max(end, 0), index).trim() !== '') return [...words, line.slice(end)]
    const part = double ?? single ?? plain ?? ''
    if (index === end) words.push(`${words.pop() ?? ''}${part}`)
    else words.push(part)
    end = index + all.length
  }
  return words
}

const OPTION = /^--([A-Za-z][\w-]{0,60})(?:=(.*))?$/s

const commandOf = ([first = '', ...words]: readonly string[], known: KnownArguments): UnitCommand => {
  const found: UnitArgument[] = []
  let others = 0
  const optionAt = (at: number) => {
    const [, option = '', given] = OPTION.exec(words[at] ?? '') ?? []
    const name = option.replaceAll('_', '-')
    const kind = known.get(name)
    return kind && { name, kind, given }
  }
  for (let at = 0; at < words.length; at += 1) {
    const option = optionAt(at)
    // May be anything, such as a script with a password, or the value of an unknown option, which may look like one.
    if (!option) {
      others += 1
      continue
    }
    const { name, kind, given } = option
    // Whatever else the next word looks like, it is no name.
    const takesNext = given === undefined && kind !== 'flag' && !optionAt(at + 1)
    if (takesNext) at += 1
    const value = given ?? (takesNext ? words[at] : undefined)
    found.push({ name, value: value === undefined ? null : shown(value, kind) })
  }
  if (others > 0) found.push({ name: OTHER_WORDS, value: `${others}` })
  // systemd has prefixes such as `-` and `+`.
  return { program: shown(first.replace(/^[-@:+!]+/, ''), 'path'), arguments: found }
}

const FORMS: Readonly<Record<ArgumentKind, RegExp | undefined>> = {
  path: /^\/[\w./@+-]{0,200}$/,
  number: /^\d{1,20}$/,
  word: /^[A-Za-z][\w-]{0,31}$/,
  ip: /^[\d.:a-fA-F]{3,50}$/,
  // Without user, path and query, which may have a key.
  url: /^https?:\/\/[\w.-]{1,100}(?::\d{1,5})?\/?$/,
  flag: undefined,
  secret: undefined,
}

/** systemd replaces it: what is shown is the name. */
const VARIABLE = /^\$(?:\{[A-Z][A-Z0-9_]{0,60}\}|[A-Z][A-Z0-9_]{0,60})$/

/** Also a variable or specifier for systemd, but it may be a password with a dollar by mistake. */
const REPLACED = /^(?:\$\{[A-Za-z_]\w*\}|\$[A-Za-z_]\w*|%[A-Za-z](?:\/.*)?)$/

const shown = (value: string, kind: ArgumentKind): string => {
  if (value === '') return EMPTY_VALUE
  if (VARIABLE.test(value) || FORMS[kind]?.test(value) === true) return value
  return REPLACED.test(value) ? REPLACED_VALUE : HIDDEN_VALUE
}
