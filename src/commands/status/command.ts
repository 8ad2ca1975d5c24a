import { Command } from 'commander'
import { firstLine, evaluateHealth } from '../../health/verdict.ts'
import { configOptions, type ConfigOptions, configOf } from '../../cli/config-options.ts'
import { gathered } from '../../cli/interrupted.ts'
import type { ExitCode, Io } from '../../cli/io.ts'
import { createStyle, type Style } from '../../cli/terminal/style.ts'
import { readSnapshot } from '../shared/read-node.ts'
import { chain } from './chain.ts'
import { documentOf, toText } from './document.ts'
import { type Page, renderPage } from './page.ts'
import { createView, joined, type Section } from './section.ts'
import { ALL, meant, SECTIONS, sectionsFor } from './sections.ts'
import { oneLine, utc } from './texts.ts'
import { type Look, readWatchSeconds, watch } from '../../cli/terminal/refresh.ts'

interface StatusOptions extends ConfigOptions {
  readonly json?: true
  /** Seconds; true for as often as usual. */
  readonly watch?: number | true
}

const USUAL_SECONDS = 2

/** `chain-agent status`: what is known of the node now. */
export const statusCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('status'))
    .description('how it stands with the node: from the running agent, or by asking once')
    .argument('[section]', 'a section, a service such as bft, or all; an overview without it')
    .option('--json', 'as JSON; all sections, unless one is named')
    .option(
      '--watch [seconds]',
      `refresh every N seconds (default ${USUAL_SECONDS})`,
      readWatchSeconds,
    )
    .addHelpText('after', helpText)
    .action(async (asked: string | undefined, options: StatusOptions, command: Command) => {
      const sections = asked === undefined ? [] : sectionsOf(asked, { io, options, command })
      const look = async (): Promise<Look> => {
        const { snapshot, config, source } = await readSnapshot(io, options)
        const page = {
          view: createView(snapshot),
          verdict: evaluateHealth(snapshot),
          listen: config.listen,
          source,
          sections,
        }
        return { lines: linesOf(page, io, options), isOfNode: snapshot.origin === 'node' }
      }
      if (options.watch !== undefined) {
        await watch(io, { look, seconds: options.watch === true ? USUAL_SECONDS : options.watch })
        exit(0)
        return
      }
      const seen = await gathered(io, exit, look)
      if (!seen) return
      io.stdout.write(`${seen.lines.join('\n')}\n`)
      exit(0)
    })

/** A page for a terminal and for whoever asks once, a line for whoever follows elsewhere. */
const linesOf = (
  page: Page,
  io: Io,
  { json, watch: follows }: StatusOptions,
): readonly string[] => {
  const style = createStyle(io)
  const isTerminal = 'isTTY' in io.stdout && io.stdout.isTTY === true
  if (json) {
    const { isUnicode } = style
    return [
      toText(documentOf(page), follows === undefined ? { indent: 2, isUnicode } : { isUnicode }),
    ]
  }
  return follows === undefined || isTerminal ? renderPage(page, style) : [shortly(page, style)]
}

/** For a file or a pipe: when, the verdict, and what was asked for in short. */
const shortly = ({ view, verdict, sections }: Page, style: Style): string => {
  const told = (sections.length === 0 ? [chain] : sections).map(
    ({ summary }) => summary?.(view)?.text,
  )
  const more = joined(told, '; ')
  const line = `${utc(view.at)} ${firstLine(verdict)}${more === null ? '' : ` ${more}`}`
  return style.plain(oneLine(line))
}

interface Asking {
  readonly io: Io
  readonly options: StatusOptions
  readonly command: Command
}

const sectionsOf = (asked: string, { io, options, command }: Asking): readonly Section[] => {
  const { config } = configOf(io, options)
  const sections = sectionsFor(asked, config)
  if (sections.length > 0) return sections
  const near = meant(asked, config)
  const others = SECTIONS.map(({ name }) => name).join(', ')
  return command.error(
    `error: there is no section or service '${oneLine(asked)}'\n` +
      (near === undefined ? `Sections: ${others}, ${ALL}.` : `(Did you mean ${near}?)`),
  )
}

const helpText = `
Sections:
${SECTIONS.map(({ name, about }) => `  ${name.padEnd(12)} ${about}`).join('\n')}
  ${ALL.padEnd(12)} every section
  bft, rpc ... one service in detail, also as chain-bft

The first line is the verdict; the second tells who told it and how old it is. What is not known
is shown as unknown, with the reason at the end of its section. With --watch where no agent
answers, the node itself is asked once a minute: its tools are not for asking more often.

Exit codes: 0 it was told, 1 it could not be told, 2 it was asked for in a wrong way. Whether the
node is well is for \`chain-agent check\` to answer with its exit code.

Examples:
  chain-agent status
  chain-agent status storage
  chain-agent status bft
  chain-agent status consensus --watch
  chain-agent status --json | jq .sections.consensus.blockDifference`
