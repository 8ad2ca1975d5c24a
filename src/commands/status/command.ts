import { Command } from 'commander'
import { evaluateHealth, firstLine } from '../../health/verdict.ts'
import { configOf, configOptions, type ConfigOptions } from '../../cli/config-options.ts'
import { type ExitCode, type Io, unlessInterrupted } from '../../cli/io.ts'
import { createStyle, type Style } from '../../cli/terminal/style.ts'
import { readSnapshot } from '../shared/read-snapshot.ts'
import { chain } from './chain.ts'
import { type Page, renderJson, renderPage, statusDocument } from './page.ts'
import { createView, joined, type Section } from './section.ts'
import { ALL, SECTIONS, sectionsFor, suggestSection } from './sections.ts'
import { oneLine, utc } from './fact.ts'
import { readWatchSeconds, watch, type WatchedPage } from '../../cli/terminal/watch.ts'

interface StatusOptions extends ConfigOptions {
  readonly json?: true
  /** The interval in seconds; true for the default. */
  readonly watch?: number | true
}

const DEFAULT_SECONDS = 2

/** `chain-agent status`: the current status of the node. */
export const statusCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('status'))
    .argument('[section]', 'a section, a service such as bft, or all; default: an overview')
    .option('--json', 'as JSON; all sections, unless a section is given')
    .option('--watch [seconds]', `refresh every N seconds (default ${DEFAULT_SECONDS})`, readWatchSeconds)
    .addHelpText('after', helpText)
    .action(async (asked: string | undefined, options: StatusOptions, command: Command) => {
      const sections = asked === undefined ? [] : sectionsOf(asked, { io, options, command })
      const render = async (): Promise<WatchedPage> => {
        const { snapshot, config, source } = await readSnapshot(io, options)
        const page = {
          view: createView(snapshot),
          verdict: evaluateHealth(snapshot),
          listen: config.listen,
          source,
          sections,
        }
        return { lines: linesOf(page, io, options), isFromNode: snapshot.origin === 'node' }
      }
      if (options.watch !== undefined) {
        await watch(io, {
          render,
          seconds: options.watch === true ? DEFAULT_SECONDS : options.watch,
        })
        exit(0)
        return
      }
      const seen = await unlessInterrupted(io, exit, render)
      if (!seen) return
      io.stdout.write(`${seen.lines.join('\n')}\n`)
      exit(0)
    })

/** A page on a terminal or for a single run; a line per interval in a file or a pipe. */
const linesOf = (page: Page, io: Io, { json, watch: follows }: StatusOptions): readonly string[] => {
  const style = createStyle(io)
  const isTerminal = 'isTTY' in io.stdout && io.stdout.isTTY === true
  if (json) {
    const { isUnicode } = style
    return [renderJson(statusDocument(page), follows === undefined ? { indent: 2, isUnicode } : { isUnicode })]
  }
  return follows === undefined || isTerminal ? renderPage(page, style) : [oneLineSummary(page, style)]
}

/** For a file or a pipe: time, verdict, and summaries of the sections. */
const oneLineSummary = ({ view, verdict, sections }: Page, style: Style): string => {
  const summaries = (sections.length === 0 ? [chain] : sections).map(({ summary }) => summary?.(view)?.text)
  const more = joined(summaries, '; ')
  const line = `${utc(view.at)} ${firstLine(verdict)}${more === null ? '' : ` ${more}`}`
  return style.plain(oneLine(line))
}

interface SectionRequest {
  readonly io: Io
  readonly options: StatusOptions
  readonly command: Command
}

const sectionsOf = (asked: string, { io, options, command }: SectionRequest): readonly Section[] => {
  const { config } = configOf(io, options)
  const sections = sectionsFor(asked, config)
  if (sections.length > 0) return sections
  const near = suggestSection(asked, config)
  const others = SECTIONS.map(({ name }) => name).join(', ')
  return command.error(
    `error: no such section or service: '${oneLine(asked)}'\n` +
      (near === undefined ? `Sections: ${others}, ${ALL}.` : `(Did you mean ${near}?)`),
  )
}

const helpText = `
Sections:
${SECTIONS.map(({ name, description }) => `  ${name.padEnd(12)} ${description}`).join('\n')}
  ${ALL.padEnd(12)} every section
  bft, rpc ... one service in detail, also as chain-bft

The first line is the health verdict; the second is the source of the data and its age. Values that could not
be read are shown as unknown, with the reason at the end of the section. If no agent is running, --watch reads
from the node at most once a minute, because that runs the tools of the node.

Exit codes: 0 the status was printed, 1 it could not be read, 2 usage error. The exit code does not depend on the
health of the node; \`chain-agent check\` reports that.

Examples:
  chain-agent status
  chain-agent status storage
  chain-agent status bft
  chain-agent status consensus --watch
  chain-agent status --json | jq .sections.consensus.blockDifference`
