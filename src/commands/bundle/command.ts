import { resolve } from 'node:path'
import { Command } from 'commander'
import type { Config } from '../../config/schema.ts'
import { renderSettings } from '../../config/render.ts'
import { ParseError, SourceError } from '../../core/errors.ts'
import { hour } from '../../core/units.ts'
import { checkBundleFile, gatherBundle, stampOf, writeBundle } from './bundle.ts'
import { preflight } from '../check/preflight.ts'
import type { Picture } from '../../health/picture.ts'
import { renderContents, renderWritten } from './render.ts'
import { verdictText } from './verdict-text.ts'
import { configOptions, type ConfigOptions, configOf } from '../../cli/config-options.ts'
import type { ExitCode, Io } from '../../cli/io.ts'
import { readMoment } from '../../cli/time-option.ts'
import { createProgress } from '../../cli/terminal/progress.ts'
import { createStyle } from '../../cli/terminal/style.ts'
import { askNodeWith, readPicture } from '../shared/read-node.ts'

interface Options extends ConfigOptions {
  readonly output?: string
  readonly since?: number
  readonly logs: boolean
  readonly list?: true
}

/** `chain-agent bundle`: what somebody who helps needs to know, in one file, without secrets. */
export const bundleCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('bundle'))
    .description('write an archive for support, with secrets redacted')
    .option('-o, --output <file>', 'the archive; chain-agent-bundle-TIME.tar.gz here without it')
    .option(
      '-S, --since <time>',
      'logs from then on, at most 5,000 lines or 2 MiB per service; an hour without it',
      readMoment(io.clock),
    )
    .option('--no-logs', 'without the logs of the services')
    .option('--list', 'only print what would be in it, and write nothing')
    .addHelpText(
      'after',
      `
In it: the verdict with its evidence, what every collector has read, the metrics, the configuration
in force, versions, what systemd says of the units, the agent's events, and the newest lines of each
service's log. Never in it: key files, the environment file, commands and environment of units.
Whatever looks like a secret is redacted, and the manifest counts the redactions of each class. Nothing is
sent: look through it before you send it. Only you may read the file, and no file is overwritten.

Examples:
  chain-agent bundle
  chain-agent bundle --since 6h --output /tmp/for-support.tar.gz
  chain-agent bundle --list --no-logs`,
    )
    .action(async (options: Options) => {
      const { config, settings } = configOf(io, options)
      const { clock, signal, standIns } = io
      const path = io.env['PATH'] ?? '/usr/bin:/bin'
      const fileAt = (at: number): string =>
        resolve(options.output ?? `chain-agent-bundle-${stampOf(at)}.tar.gz`)
      // Before it collects for seconds.
      if (!options.list) await checkBundleFile(fileAt(clock.now()))
      const picture = await pictureOf(io, options, config)
      const progress = createProgress(io)
      try {
        progress.say('Looking at the host')
        const more = await preflight({ config, clock, path, signal, picture, ...standIns })
        const members = await gatherBundle({
          config,
          clock,
          path,
          signal,
          picture,
          texts: {
            'verdict.txt': verdictText(picture, more),
            'config.yaml': `${renderSettings(settings)}\n`,
          },
          logsSince: options.logs ? (options.since ?? clock.now() - hour) : null,
          onStep: (step) => {
            progress.say(`Gathering ${step}`)
          },
          ...standIns,
        })
        progress.end()
        const style = createStyle(io)
        if (options.list) io.stdout.write(renderContents(members, style))
        else {
          const file = fileAt(members.createdAt)
          const bytes = await writeBundle(file, members, clock)
          io.stdout.write(renderWritten({ file, bytes, members }, style))
        }
        exit(0)
      } catch (error) {
        if (!signal.aborted) throw error
        progress.end()
        io.stderr.write('Stopped before it was done: nothing was written.\n')
        exit(1)
      } finally {
        progress.end()
      }
    })

/** Where the agent's port gives no answer of an agent, the node itself is asked. */
const pictureOf = async (io: Io, options: Options, config: Config): Promise<Picture> => {
  try {
    return (await readPicture(io, options)).picture
  } catch (error) {
    if (error instanceof SourceError || error instanceof ParseError) return askNodeWith(io, config)
    throw error
  }
}
