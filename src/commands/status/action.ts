import { firstLine } from '../../health/diagnosis.ts'
import { configOf } from '../../terminal/config.ts'
import type { ConfigOptions } from '../../terminal/config-options.ts'
import { type Io, isTerminal, sourceContext, unlessInterrupted, type CommandContext } from '../../terminal/io.ts'
import { linesText } from '../../terminal/output.ts'
import { createStyle, type Style } from '../../terminal/style.ts'
import { readSnapshot } from '../shared/read-snapshot.ts'
import { readUnitArguments } from '../shared/unit-arguments.ts'
import { chain } from '../../health/sections/chain.ts'
import { argumentsSection, type Page, renderJson, renderPage, statusDocument } from './page.ts'
import { createView, type Section } from '../../health/sections/section.ts'
import { ALL, ARGUMENTS, suggestSection, SECTIONS, sectionsFor } from '../../health/sections/sections.ts'
import { joined, oneLine } from '../../health/sections/fact.ts'
import { utc } from '../../core/format.ts'
import type { Config } from '../../config/schema.ts'
import type { NodeSnapshot } from '../../health/snapshot.ts'
import { createExec } from '../../sources/exec.ts'
import { keyFiles } from '../../sources/key-files.ts'
import { watch, type WatchedPage } from '../../terminal/watch.ts'

interface StatusOptions extends ConfigOptions {
  readonly section?: string
  readonly json?: true
  /** The interval in seconds. */
  readonly watch?: number
}

export const showStatus = async ({ io, exit, options, command }: CommandContext<StatusOptions>): Promise<void> => {
  const isArguments = options.section === ARGUMENTS
  const sections =
    options.section === undefined || isArguments ? [] : sectionsOf(options.section, { io, options, command })
  const render = async (): Promise<WatchedPage> => {
    const { config, source } = configOf(io, options)
    const snapshot = await readSnapshot(io, config)
    const page = {
      view: createView(snapshot),
      listen: config.listen,
      source,
      sections: isArguments ? [await readArguments(io, config, snapshot)] : sections,
    }
    return { lines: linesOf(page, io, options), isFromNode: snapshot.origin === 'node' }
  }
  if (options.watch !== undefined) {
    await watch(io, options.watch, render)
    exit(0)
    return
  }
  const { lines } = await unlessInterrupted(io, render)
  io.stdout.write(linesText(lines))
  exit(0)
}

const readArguments = async (io: Io, config: Config, snapshot: NodeSnapshot): Promise<Section> => {
  const { clock, path, signal, exec = createExec({ clock, path }) } = sourceContext(io)
  return argumentsSection(await readUnitArguments({ config, snapshot, exec, files: keyFiles, signal }))
}

/** A page on a terminal or for a single run; a line per interval in a file or a pipe. */
const linesOf = (page: Page, io: Io, { json, watch: follows }: StatusOptions): readonly string[] => {
  const style = createStyle(io)
  if (json) {
    const { isUnicode } = style
    return [renderJson(statusDocument(page), follows === undefined ? { indent: 2, isUnicode } : { isUnicode })]
  }
  return follows === undefined || isTerminal(io.stdout) ? renderPage(page, style) : [oneLineSummary(page, style)]
}

/** For a file or a pipe: time, verdict, and summaries of the sections. */
const oneLineSummary = ({ view, sections }: Page, style: Style): string => {
  const summaries = (sections.length === 0 ? [chain] : sections).map(({ summary }) => summary?.(view)?.text)
  const more = joined(summaries, '; ')
  const line = `${utc(view.at)} ${firstLine(view.diagnosis)}${more === null ? '' : ` ${more}`}`
  return style.plain(oneLine(line))
}

const sectionsOf = (
  asked: string,
  { io, options, command }: Pick<CommandContext<StatusOptions>, 'io' | 'options' | 'command'>,
): readonly Section[] => {
  const { config } = configOf(io, options)
  const sections = sectionsFor(asked, config)
  if (sections.length > 0) return sections
  const near = suggestSection(asked, config)
  const others = [...SECTIONS.map(({ name }) => name), ARGUMENTS].join(', ')
  return command.error(
    `error: no such section or service: '${oneLine(asked)}'\n` +
      (near === undefined ? `Sections: ${others}, ${ALL}.` : `(Did you mean ${near}?)`),
  )
}
