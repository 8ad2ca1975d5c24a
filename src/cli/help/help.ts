import { type Argument, type Command, Help, InvalidArgumentError, type Option } from 'commander'
import { closestMatch } from '../../core/suggest.ts'
import type { Io } from '../../terminal/io.ts'
import { createStyle, type Style } from '../../terminal/style.ts'

/** Columns if the output is not a terminal: it is probably shown in a pager. */
const DEFAULT_WIDTH = 80
/** Longer lines are hard to read. */
const MAX_WIDTH = 100
/** With fewer columns left for them, descriptions are not wrapped. */
const MIN_DESCRIPTION = 24

/** Sets the output streams, the error format and the help format of a command and its subcommands. */
export const applyHelpFormat = (command: Command, io: Io): void => {
  for (const item of [...command.registeredArguments, ...command.options]) suggestChoices(item)
  const [out, err] = [createStyle(io), createStyle({ ...io, stdout: io.stderr })]
  const { paint } = createStyle({ ...io, env: { FORCE_COLOR: '1' } })
  command
    .exitOverride()
    .helpOption('-h, --help', 'show this help')
    .showSuggestionAfterError()
    .showHelpAfterError(`Usage: ${commandLineOf(command)} --help`)
    .configureOutput({
      writeOut: (text) => io.stdout.write(out.plain(text)),
      writeErr: (text) => io.stderr.write(err.plain(text)),
      outputError: (text, write) => {
        write(usageError(withHint(text, command)))
      },
      getOutHelpWidth: () => widthOf(out),
      getErrHelpWidth: () => widthOf(err),
      // Commander removes the colours otherwise.
      getOutHasColors: () => out.hasColor,
      getErrHasColors: () => err.hasColor,
    })
    .configureHelp({
      minWidthToWrap: MIN_DESCRIPTION,
      styleTitle: (text) => paint('strong', text),
      // Without the help command that commander adds to a command with subcommands.
      visibleCommands: ({ commands, parent }) => commands.filter((one) => parent !== null || one.helpGroup() !== ''),
      visibleOptions: (shown) => new Help().visibleOptions(shown).filter(isOwn),
      commandDescription: (shown) => sentence(shown.description()),
      subcommandTerm: (shown) => [shown.name(), ...shown.registeredArguments.map(argumentTerm)].join(' '),
      optionDescription: descriptionOf,
      argumentDescription: descriptionOf,
      groupItems: (_, visible, groupOf) => {
        const groups = visible.map(groupOf)
        // The options that many commands share are last.
        const headings = [...new Set(groups)].toSorted((a, b) => Number(a === SHARED) - Number(b === SHARED))
        return new Map(
          headings.map((heading) => [
            heading === SHARED ? 'Configuration (all options: chain-agent help configuration):' : heading,
            visible.filter((_item, at) => groups[at] === heading),
          ]),
        )
      },
    })
  for (const child of command.commands) applyHelpFormat(child, io)
}

/** The heading of the options in config-options.ts. */
const SHARED = 'Configuration:'

/** The help of a command has one option of the configuration; `help configuration` lists all. */
const isOwn = ({ helpGroupHeading, long }: Option): boolean => helpGroupHeading !== SHARED || long === '--config'

/** The complete help of a command, in plain text. The command prints no help afterwards. */
export const captureHelp = (command: Command, width = DEFAULT_WIDTH): string => {
  let text = ''
  command
    .configureOutput({
      writeOut: (more) => {
        text += more
      },
      getOutHelpWidth: () => width,
      getOutHasColors: () => false,
    })
    .outputHelp()
  return text
}

/** `chain-agent maintenance start` */
export const commandLineOf = (command: Command): string =>
  command.parent ? `${commandLineOf(command.parent)} ${command.name()}` : 'chain-agent'

const argumentTerm = (argument: Argument): string => {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`
  return argument.required ? `<${name}>` : `[${name}]`
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

const widthOf = ({ width = DEFAULT_WIDTH }: Style): number => Math.min(width, MAX_WIDTH)

const sentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`.replace(/\.\.$/, '.')

const UNKNOWN_OPTION = /^error: unknown option '--([^'\n]*)'(?:\n\(Did you mean (?:one of )?--([^,?]+)[^\n]*\))?/

/**
 * Commander also suggests options that differ a lot from the input (--version for --section): these suggestions are
 * removed. The name of an argument that was typed as an option gets a hint.
 */
const withHint = (text: string, command: Command): string =>
  text.replace(UNKNOWN_OPTION, (error, typed: string, suggested: string | undefined) => {
    const argument = command.registeredArguments.map((one) => one.name()).find((name) => name === typed)
    if (argument !== undefined) {
      const usage = `${commandLineOf(command)} ${valueOf(typed, command)}`
      return `error: unknown option '--${typed}'\n(${argument} is an argument, not an option: ${usage})`
    }
    return suggested === undefined || closestMatch(typed, [suggested]) !== undefined
      ? error
      : `error: unknown option '--${typed}'`
  })

/** The word after the option, or a placeholder. */
const valueOf = (option: string, { args }: Command): string => {
  const value = args[args.indexOf(`--${option}`) + 1]
  return value === undefined || value.startsWith('-') ? option.toUpperCase() : value
}

/** Rewrites errors of commander: `invalid duration '30x': expected …`. */
const usageError = (text: string): string =>
  text
    .replace(/^error: command-argument value ('.*') is invalid for argument '(.*?)'\. /s, 'error: invalid $2 $1: ')
    .replace(/^error: option '(?:-\w, )?(--[\w-]+)[^']*' argument ('.*') is invalid\. /s, 'error: invalid $1 $2: ')
    .replace(/(?<=: )Allowed choices are (.*)\.$/m, 'expected one of $1')
    .replace(/^(error: unknown command '([\w-]+)')(?:\n\(.*\))?$/m, (line, error: string, name: string) => {
      const instead = INSTEAD.get(name)
      return instead === undefined ? line : `${error}\n(${instead})`
    })
    .replace(/^error: unknown option '-v'$/m, '$&\n(Did you mean --version?)')

/** What to use instead of a command that was removed, or of a word that is no command. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ['height', 'Use chain-agent query --height.'],
  ['alerts', 'Alerts that fire: chain-agent check. The text of one: chain-agent runbook ALERT.'],
  ['version', 'Did you mean --version?'],
])

/** Adds a suggestion to commander's error for an invalid choice. */
const suggestChoices = (item: Argument | Option): void => {
  const { argChoices, parseArg } = item
  if (!argChoices || !parseArg) return
  item.argParser((word: string, before: unknown) => {
    try {
      return parseArg(word, before)
    } catch (error) {
      const meant = closestMatch(word, argChoices)
      if (!(error instanceof InvalidArgumentError) || meant === undefined) throw error
      throw new InvalidArgumentError(`${error.message}\n(Did you mean ${meant}?)`)
    }
  })
}
