import type { Argument, Command, Option } from 'commander'
import { argumentTerm, commandLineOf, descriptionOf } from './help.ts'

/** An argument or option with its description. */
export interface Term {
  /** `-c, --config <file>`, `[file]` */
  readonly term: string
  readonly description: string
  /** The kind of its value; undefined for an option without a value. */
  readonly argument: ArgumentKind | undefined
}

export interface OptionTerm extends Term {
  /** `-c` and `--config` */
  readonly names: readonly string[]
  readonly isRepeatable: boolean
}

/** The description of a command, from which completion is rendered. */
export interface CommandModel {
  /** `maintenance start`; empty for the program. */
  readonly path: string
  readonly name: string
  readonly summary: string
  readonly arguments: readonly Term[]
  readonly isVariadic: boolean
  readonly options: readonly OptionTerm[]
  readonly commands: readonly CommandModel[]
}

export const describeCommand = (command: Command): CommandModel => ({
  path: commandLineOf(command).split(' ').slice(1).join(' '),
  name: command.name(),
  summary: command.description(),
  arguments: command.registeredArguments.map((argument: Argument) => ({
    term: argumentTerm(argument),
    description: argument.description,
    argument: argumentKindOf(argument.name(), argument.argChoices),
  })),
  isVariadic: command.registeredArguments.at(-1)?.variadic ?? false,
  options: command.createHelp().visibleOptions(command).map(describeOption),
  commands: command.commands.map(describeCommand),
})

const describeOption = (option: Option): OptionTerm => {
  const placeholder = /[<[](.+?)(?:\.\.\.)?[>\]]/.exec(option.flags)?.[1]
  return {
    term: option.flags,
    description: descriptionOf(option),
    argument: placeholder === undefined ? undefined : argumentKindOf(placeholder, option.argChoices),
    names: [option.short, option.long].filter((name) => name !== undefined),
    isRepeatable: Array.isArray(option.defaultValue),
  }
}

/** What a shell completes for a value. */
export type ArgumentKind =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  /** A list that only this program knows. */
  | { readonly kind: 'list'; readonly list: CompletionList }
  | { readonly kind: 'file' | 'directory' | 'anything' }

export type CompletionList = 'alert' | 'section' | 'scenario' | 'key' | 'service' | 'command' | 'collector' | 'level'

/** The values of each list. */
export type CompletionLists = Readonly<Record<CompletionList, readonly string[]>>

const COMPLETION_LISTS: Readonly<Record<string, CompletionList>> = {
  alert: 'alert',
  section: 'section',
  'name|file': 'scenario',
  'key=value': 'key',
  service: 'service',
  services: 'service',
  command: 'command',
  collector: 'collector',
  level: 'level',
}

const PATHS: Readonly<Record<string, 'file' | 'directory'>> = {
  file: 'file',
  'file|-': 'file',
  path: 'file',
  dir: 'directory',
  directory: 'directory',
}

/** Derives the kind from the choices, or else from the placeholder in the help: `<file>`. */
const argumentKindOf = (placeholder: string, choices: readonly string[] | undefined): ArgumentKind => {
  const name = placeholder.toLowerCase()
  if (choices) return { kind: 'words', words: choices }
  const list = COMPLETION_LISTS[name]
  if (list) return { kind: 'list', list }
  return { kind: PATHS[name] ?? 'anything' }
}

/** A command and all its subcommands, recursively. */
export const withSubcommands = (words: CommandModel): readonly CommandModel[] => [
  words,
  ...words.commands.flatMap(withSubcommands),
]
