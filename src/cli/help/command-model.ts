import type { Argument, Command, Option } from 'commander'

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
  /** The heading of a shared group of options; undefined for options of this command only. */
  readonly group: string | undefined
}

/** The description of a command, from which help, manual, docs/cli.md and completion are rendered. */
export interface CommandModel {
  /** `maintenance start`; empty for the program. */
  readonly path: string
  readonly name: string
  /** `chain-agent maintenance start [options] <duration>` */
  readonly usage: string
  readonly summary: string
  readonly description: string
  /** Its heading in the list of commands. */
  readonly group: string
  readonly arguments: readonly Term[]
  readonly isVariadic: boolean
  readonly options: readonly OptionTerm[]
  readonly commands: readonly CommandModel[]
  readonly notes: readonly Section[]
}

/** Commander stores the text below a help as a listener that writes it; this program formats it itself. */
const notes = new WeakMap<Command, string>()
export const setNotes = (command: Command, text: string): void => {
  notes.set(command, text)
}

export const describeCommand = (command: Command, above: readonly string[] = []): CommandModel => {
  const path = command.parent ? [...above, command.name()] : []
  const help = command.createHelp()
  return {
    path: path.join(' '),
    name: command.name(),
    usage: help.commandUsage(command),
    summary: command.summary() || command.description(),
    description: command.description(),
    group: command.helpGroup(),
    arguments: command.registeredArguments.map((argument) => ({
      term: argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
      description: descriptionOf(argument),
      argument: argumentKindOf(argument.name(), argument.argChoices),
    })),
    isVariadic: command.registeredArguments.at(-1)?.variadic ?? false,
    // Own options first: the configuration options are the same for all commands.
    options: help
      .visibleOptions(command)
      .map(describeOption)
      .toSorted((a, b) => Number(a.group !== undefined) - Number(b.group !== undefined)),
    commands: command.commands
      .filter((child) => help.visibleCommands(command).includes(child))
      .map((child) => describeCommand(child, path)),
    notes: readNotes(notes.get(command) ?? ''),
  }
}

/** The path of a command from the root, without describing its parents. */
export const pathTo = (command: Command): readonly string[] =>
  command.parent ? [...pathTo(command.parent), command.name()] : []

const describeOption = (option: Option): OptionTerm => {
  const placeholder = /[<[](.+?)(?:\.\.\.)?[>\]]/.exec(option.flags)?.[1]
  return {
    term: option.flags,
    description: descriptionOf(option),
    argument: placeholder === undefined ? undefined : argumentKindOf(placeholder, option.argChoices),
    names: [option.short, option.long].filter((name) => name !== undefined),
    isRepeatable: Array.isArray(option.defaultValue),
    group: option.helpGroupHeading,
  }
}

const descriptionOf = (item: Argument | Option): string => {
  const value: unknown = item.defaultValue
  const isShown = ['string', 'number'].includes(typeof value)
  const defaultText = item.defaultValueDescription ?? (isShown ? String(value) : undefined)
  const extras = [
    ...(item.argChoices ? [`one of ${item.argChoices.join(', ')}`] : []),
    ...(defaultText === undefined || defaultText === '' ? [] : [`default ${defaultText}`]),
  ]
  return extras.length === 0 ? item.description : `${item.description} (${extras.join('; ')})`
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

/** A section of the text below the options of a command. */
export interface Section {
  /** `Examples`, `Formats`, `Exit codes`; undefined for a paragraph. */
  readonly title: string | undefined
  /** `prose` is wrapped; `lines` keep their line breaks. */
  readonly kind: 'prose' | 'lines'
  readonly lines: readonly string[]
}

/** Splits a text into paragraphs and indented lists below a line that ends in a colon. */
export const readNotes = (text: string): readonly Section[] =>
  text
    .split(/\n{2,}/)
    .map((block) => block.replaceAll(/^\n+|\n+$/g, ''))
    .filter((block) => block.trim() !== '')
    .flatMap(readBlock)

const readBlock = (block: string): readonly Section[] => {
  const lines = block.split('\n')
  const indented = lines.findIndex((line) => line.startsWith(' '))
  if (indented < 0) return [readProse(lines)]
  const list = lines.slice(indented)
  const before = lines.slice(0, indented)
  const title = before.length === 1 ? /^([A-Z][\w ]*):$/.exec(before[0] ?? '')?.[1] : undefined
  const section: Section = { title, kind: 'lines', lines: withoutMargin(list) }
  return before.length === 0 || title !== undefined ? [section] : [readProse(before), section]
}

const readProse = (lines: readonly string[]): Section => {
  const text = lines.map((line) => line.trim()).join(' ')
  const exitCodes = /^Exit codes?:? (.*)$/.exec(text)?.[1]
  return { title: exitCodes && 'Exit codes', kind: 'prose', lines: [exitCodes ?? text] }
}

const withoutMargin = (lines: readonly string[]): readonly string[] => {
  const margin = Math.min(...lines.map((line) => line.search(/\S|$/)))
  return lines.map((line) => line.slice(margin).trimEnd())
}

/** Environment variables, with the description for the manual. */
export const ENVIRONMENT = [
  [
    'CHAIN_AGENT_CONFIG',
    'the configuration file if --config names none; default /etc/chain-agent/config.yaml if it exists',
  ],
  ['CHAIN_AGENT_*', 'any configuration key: CHAIN_AGENT_RPC_INTERVAL is rpc.interval'],
  ['CHAIN_AGENT_API_KEY', 'the API key for a query service, if there is no --api-key-file'],
  ['NO_COLOR', 'if it is not empty, the output has no colour'],
  ['FORCE_COLOR', 'if it is not empty, 0 or false, the output has colour even in a pipe'],
  ['COLUMNS', 'the line width if the output is not a terminal'],
  ['LC_ALL, LC_CTYPE, LANG', 'if the first that is set is not UTF-8, the output is ASCII'],
] as const

/** A command and all its subcommands, recursively. */
export const withSubcommands = (words: CommandModel): readonly CommandModel[] => [
  words,
  ...words.commands.flatMap(withSubcommands),
]

/** The options of shared groups, each once: they are the same for all commands. */
export const sharedOptions = (program: CommandModel): readonly OptionTerm[] => {
  const all = withSubcommands(program).flatMap(({ options }) => options.filter(({ group }) => group !== undefined))
  return all.filter(({ term }, index) => all.findIndex((other) => other.term === term) === index)
}
