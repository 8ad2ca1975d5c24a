import type { Argument, Command, Option } from 'commander'
import { type Section, readNotes } from './notes.ts'
import { type Taking, takenBy } from './taking.ts'

/** What is typed, and what it means. */
export interface Term {
  /** `-c, --config <file>`, `[file]` */
  readonly term: string
  readonly description: string
  /** What may be typed in its place, or after it; undefined where nothing is taken. */
  readonly takes: Taking | undefined
}

export interface OptionTerm extends Term {
  /** `-c` and `--config` */
  readonly names: readonly string[]
  readonly isRepeatable: boolean
  /** The heading above it; undefined for the options of this command alone. */
  readonly group: string | undefined
}

/** All that is to be said of one command: for its help, the manual, the page and the shells. */
export interface Words {
  /** `maintenance start`; empty for the program. */
  readonly path: string
  readonly name: string
  /** `chain-agent maintenance start [options] <duration>` */
  readonly usage: string
  readonly summary: string
  readonly description: string
  /** The heading above it in the list of commands. */
  readonly group: string
  readonly arguments: readonly Term[]
  readonly isVariadic: boolean
  readonly options: readonly OptionTerm[]
  readonly commands: readonly Words[]
  readonly notes: readonly Section[]
}

/** Commander keeps what is said below a help as a listener that writes it; we print it in our own way. */
const notes = new WeakMap<Command, string>()
export const keepNotes = (command: Command, text: string): void => {
  notes.set(command, text)
}

export const describeCommand = (command: Command, above: readonly string[] = []): Words => {
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
      description: withExtras(argument),
      takes: takenBy(argument.name(), argument.argChoices),
    })),
    isVariadic: command.registeredArguments.at(-1)?.variadic ?? false,
    // Own options first: those of the configuration are everywhere the same.
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

/** The path of a command from the root: in its own help no other is looked at. */
export const pathTo = (command: Command): readonly string[] =>
  command.parent ? [...pathTo(command.parent), command.name()] : []

const describeOption = (option: Option): OptionTerm => {
  const placeholder = /[<[](.+?)(?:\.\.\.)?[>\]]/.exec(option.flags)?.[1]
  return {
    term: option.flags,
    description: withExtras(option),
    takes: placeholder === undefined ? undefined : takenBy(placeholder, option.argChoices),
    names: [option.short, option.long].filter((name) => name !== undefined),
    isRepeatable: Array.isArray(option.defaultValue),
    group: option.helpGroupHeading,
  }
}

const withExtras = (item: Argument | Option): string => {
  const value: unknown = item.defaultValue
  const isShown = ['string', 'number'].includes(typeof value)
  const told = item.defaultValueDescription ?? (isShown ? String(value) : undefined)
  const extras = [
    ...(item.argChoices ? [`one of ${item.argChoices.join(', ')}`] : []),
    ...(told === undefined || told === '' ? [] : [`default ${told}`]),
  ]
  return extras.length === 0 ? item.description : `${item.description} (${extras.join('; ')})`
}
