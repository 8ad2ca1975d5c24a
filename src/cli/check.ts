import { Command } from 'commander'
import { readConfig } from '../config/index.ts'
import { firstLine, judge } from '../verdict/verdict.ts'
import { configOptions, type ConfigOptions, flagsOf } from './config-options.ts'
import type { ExitCode, Io } from './io.ts'
import { askNodeWith } from './picture.ts'

/** `chain-agent check`: asks the node and the host everything once, and says what is to be done. */
export const checkCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('check'))
    .description('ask everything once: verdict, evidence, what to do')
    .action(async (options: ConfigOptions) => {
      const { config } = readConfig(options.config, { env: io.env, flags: flagsOf(options) })
      const verdict = judge(await askNodeWith(io, config))
      io.stdout.write(`${firstLine(verdict)}\n`)
      exit(verdict.exitCode)
    })
