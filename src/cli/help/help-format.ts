import { EventEmitter } from 'node:events'
import { type Argument, type Command, InvalidArgumentError, type Option } from 'commander'
import { closestMatch } from '../../core/suggest.ts'
import type { Io } from '../io.ts'
import { createStyle } from '../terminal/style.ts'
import { describeCommand, setNotes, pathTo } from './command-model.ts'
import { renderHelp } from './help-page.ts'

/** Sets the output streams, the error format and the help format of a command and its subcommands. */
export const applyHelpFormat = (command: Command, io: Io): void => {
  takeNotes(command)
  for (const item of [...command.registeredArguments, ...command.options]) suggestChoices(item)
  let style = createStyle(io)
  command
    .exitOverride()
    .helpOption('-h, --help', 'show this help')
    .showSuggestionAfterError()
    .showHelpAfterError(`Usage: ${['chain-agent', ...pathTo(command)].join(' ')} --help`)
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      outputError: (text, write) => {
        write(usageError(withHint(text, command)))
      },
      // `createStyle` decides about colour.
      getOutHasColors: () => true,
      getErrHasColors: () => true,
    })
    .configureHelp({
      prepareContext: ({ error = false }) => {
        style = createStyle(error ? { ...io, stdout: io.stderr } : io)
      },
      formatHelp: (shown) => renderHelp(describeCommand(shown, pathTo(shown).slice(0, -1)), style),
    })
  for (const child of command.commands) applyHelpFormat(child, io)
}

const UNKNOWN_OPTION = /^error: unknown option '--([^'\n]*)'(?:\n\(Did you mean (?:one of )?--([^,?]+)[^\n]*\))?/

/**
 * Commander also suggests options that differ a lot from the input (--version for --section): these suggestions are
 * removed. The name of an argument that was typed as an option gets a hint.
 */
const withHint = (text: string, command: Command): string =>
  text.replace(UNKNOWN_OPTION, (error, typed: string, suggested: string | undefined) => {
    const argument = command.registeredArguments.map((one) => one.name()).find((name) => name === typed)
    if (argument !== undefined) {
      const usage = ['chain-agent', ...pathTo(command), valueOf(typed, command)].join(' ')
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
    .replace(/^error: unknown (?:option '-v'|command 'version')$/m, '$&\n(Did you mean --version?)')

const takeNotes = (command: Command): void => {
  if (!(command instanceof EventEmitter)) return
  let text = ''
  command.emit('afterHelp', {
    error: false,
    command,
    write: (more: string) => {
      text += more
    },
  })
  command.removeAllListeners('afterHelp')
  setNotes(command, text)
}

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
