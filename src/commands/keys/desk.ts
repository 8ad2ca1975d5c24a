import { InvalidArgumentError, Option } from 'commander'
import { atKeyDesk, type KeyDesk } from './keys.ts'
import { type ConfigOptions, configOf } from '../../cli/config-options.ts'
import type { ExitCode, Io } from '../../cli/io.ts'
import { createProgress, type Progress } from '../../cli/terminal/progress.ts'
import { createStyle } from '../../cli/terminal/style.ts'

interface Opening {
  readonly io: Io
  readonly exit: (code: ExitCode) => void
  readonly options: ConfigOptions
}

/** Opens the desk for a command. Its progress line must have ended before the command prints. */
export const atDesk = async (
  { io, exit, options }: Opening,
  work: (desk: KeyDesk, progress: Progress) => Promise<void>,
): Promise<void> => {
  const { config } = configOf(io, options)
  const { clock, signal, standIns } = io
  const path = io.env['PATH'] ?? '/usr/bin:/bin'
  const progress = createProgress(io)
  const say = (doing: string): void => {
    progress.say(doing)
  }
  try {
    await atKeyDesk({ config, clock, path, signal, say, ...standIns }, (desk) => {
      for (const { used, missing } of desk.fallbacks) {
        io.stderr.write(`Using ${used}: ${missing} does not exist.\n`)
      }
      return work(desk, progress)
    })
  } catch (error) {
    if (!signal.aborted) throw error
    progress.end()
    io.stderr.write('Interrupted; what was there before is still there.\n')
    exit(1)
  } finally {
    progress.end()
  }
}

/** What the tool's arguments and a core dump would show, said once before it is run. */
export const warn = (io: Io, { isListOpen, coreTrouble }: KeyDesk, shown: string): void => {
  const style = createStyle(io)
  const say = (text: string): void => {
    io.stderr.write(`${style.sign('notice')} ${style.plain(text)}\n`)
  }
  if (isListOpen !== false) {
    say(
      `While the keystore tool runs, for about a second a key, every user of this host can read ${shown} in the process list${isListOpen === null ? ', if /proc is mounted as usual' : ''}; not where /proc is mounted with hidepid=2.`,
    )
  }
  if (coreTrouble !== null) {
    say(
      `Core dumps could not be turned off (${coreTrouble}); a crash now could leave key material on the disk.`,
    )
  }
}

/** `--type`, one or more times; both keys without it. */
export const typeOption = (choices: readonly string[], description: string): Option =>
  new Option('--type <type>', `${description}; repeatable`)
    .choices([...choices])
    .argParser((value: string, before: readonly string[] | undefined) => {
      if (choices.includes(value)) return [...new Set([...(before ?? []), value])]
      throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`)
    })
