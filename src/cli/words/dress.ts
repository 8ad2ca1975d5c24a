import { EventEmitter } from 'node:events'
import { type Argument, type Command, InvalidArgumentError, type Option } from 'commander'
import { nearest } from '../../core/nearest.ts'
import type { Io } from '../io.ts'
import { createStyle } from '../page/style.ts'
import { describeCommand, keepNotes, pathTo } from './describe.ts'
import { renderHelp } from './help-page.ts'

/** Gives a command and those below it what they have in common: how they write, and how they help. */
export const dress = (command: Command, io: Io): void => {
  takeNotes(command)
  for (const item of [...command.registeredArguments, ...command.options]) suggestChoices(item)
  let style = createStyle(io)
  command
    .exitOverride()
    .helpOption('-h, --help', 'show this help')
    .showSuggestionAfterError()
    .showHelpAfterError(`How to use it: ${['chain-agent', ...pathTo(command)].join(' ')} --help`)
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      // Our pages have colour only where it can be shown.
      getOutHasColors: () => true,
      getErrHasColors: () => true,
    })
    .configureHelp({
      prepareContext: ({ error = false }) => {
        style = createStyle(error ? { ...io, stdout: io.stderr } : io)
      },
      formatHelp: (shown) => renderHelp(describeCommand(shown, pathTo(shown).slice(0, -1)), style),
    })
  for (const child of command.commands) dress(child, io)
}

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
  keepNotes(command, text)
}

/** Commander tells which choices there are, and not which one was meant. */
const suggestChoices = (item: Argument | Option): void => {
  const { argChoices, parseArg } = item
  if (!argChoices || !parseArg) return
  item.argParser((word: string, before: unknown) => {
    try {
      return parseArg(word, before)
    } catch (error) {
      const meant = nearest(word, argChoices)
      if (!(error instanceof InvalidArgumentError) || meant === undefined) throw error
      throw new InvalidArgumentError(`${error.message}\n(Did you mean ${meant}?)`)
    }
  })
}
