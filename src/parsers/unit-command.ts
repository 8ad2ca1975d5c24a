import type { ArgumentKind, KnownArgument } from '../domain/node-arguments.ts'
import { logicalLines } from './systemctl.ts'

/** Stands for a value that is not shown. */
export const HIDDEN_VALUE = '(set)'

export interface UnitArgument {
  /** Without dashes, and with `-` for `_`. */
  readonly name: string
  /** HIDDEN_VALUE unless the option is known to be harmless, or the value is a variable; null without a value. */
  readonly value: string | null
}

/** A command of a unit, without secrets. */
export interface UnitCommand {
  readonly program: string
  readonly arguments: readonly UnitArgument[]
}

type KnownArguments = ReadonlyMap<string, KnownArgument>

/**
 * The commands that a unit file or drop-in adds with ExecStart; `reset` is an empty ExecStart, which removes those
 * before it. Values are redacted here, at the source: the result has only values of known options, in their form.
 */
export const commandsOf = (text: string, known: KnownArguments): readonly (UnitCommand | 'reset')[] => {
  let section = ''
  return logicalLines(text).flatMap((line) => {
    section = /^\s*\[(\w+)\]\s*$/.exec(line)?.[1] ?? section
    const [, value] = /^\s*ExecStart\s*=(.*)$/.exec(line) ?? []
    if (value === undefined || section !== 'Service') return []
    return [value.trim() === '' ? 'reset' : commandOf(wordsOf(value), known)]
  })
}

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

const OPTION = /^--?([A-Za-z][\w-]{0,60})(?:=(.*))?$/s

const commandOf = ([first = '', ...words]: readonly string[], known: KnownArguments): UnitCommand => {
  const found: UnitArgument[] = []
  for (let at = 0; at < words.length; at += 1) {
    const [, option, given] = OPTION.exec(words[at] ?? '') ?? []
    // A word that is no option may be anything, such as a script with a password.
    if (option === undefined) {
      found.push({ name: '(word)', value: HIDDEN_VALUE })
      continue
    }
    const name = option.replaceAll('_', '-')
    const kind = known.get(name)?.kind
    const next = words[at + 1]
    // A known option takes the next word whatever it looks like, so that no value is read as a name.
    const takesNext = given === undefined && kind !== 'flag' && (kind !== undefined || next?.startsWith('-') === false)
    if (takesNext) at += 1
    const value = given ?? (takesNext ? next : undefined)
    found.push({ name, value: value === undefined ? null : shown(value, kind) })
  }
  // systemd has prefixes such as `-` and `+`.
  return { program: shown(first.replace(/^[-@:+!]+/, ''), 'path'), arguments: found }
}

const FORMS: Readonly<Record<ArgumentKind, RegExp | undefined>> = {
  path: /^\/[\w./@+-]{0,200}$/,
  number: /^\d{1,20}$/,
  word: /^[A-Za-z][\w-]{0,31}$/,
  ip: /^$|^[\d.:a-fA-F]{3,50}$/,
  // Without user, path and query, which may have a key.
  url: /^https?:\/\/[\w.-]{1,100}(?::\d{1,5})?\/?$/,
  flag: undefined,
  secret: undefined,
}

/** systemd replaces it: what is shown is the name. */
const VARIABLE = /^\$(?:\{[A-Z][A-Z0-9_]{0,60}\}|[A-Z][A-Z0-9_]{0,60})$/

const shown = (value: string, kind: ArgumentKind | undefined): string => {
  const isHarmless = VARIABLE.test(value) || (kind !== undefined && FORMS[kind]?.test(value) === true)
  return isHarmless ? value : HIDDEN_VALUE
}
