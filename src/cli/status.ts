import { Command } from 'commander'
import { firstLine, judge } from '../verdict/verdict.ts'
import { configOptions, type ConfigOptions } from './config-options.ts'
import type { ExitCode, Io } from './io.ts'
import { readPicture } from './picture.ts'

/** `chain-agent status`: what is known of the node now. */
export const statusCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('status'))
    .description('how it stands with the node')
    .action(async (options: ConfigOptions) => {
      const { picture } = await readPicture(io, options)
      io.stdout.write(`${firstLine(judge(picture))}\n`)
      exit(0)
    })
