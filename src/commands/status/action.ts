import { toJson } from '../../core/json.ts'
import type { ConfiguredContext } from '../../terminal/configured-command.ts'
import { type Io, sourceContext, UsageError } from '../../terminal/io.ts'
import { createStyle } from '../../terminal/style.ts'
import { readSnapshot } from '../shared/read-snapshot.ts'
import { readUnitArguments } from '../shared/unit-arguments.ts'
import { argumentsSection, type Page, renderPage, statusDocument } from './page.ts'
import { createView, type Section } from '../../health/sections/section.ts'
import { ALL, ARGUMENTS, suggestSection, SECTIONS, sectionsFor } from '../../health/sections/sections.ts'
import { oneLine } from '../../health/sections/fact.ts'
import type { Config } from '../../config/schema.ts'
import type { NodeSnapshot } from '../../health/snapshot.ts'
import { createExec } from '../../sources/exec.ts'
import { keyFiles } from '../../sources/key-files.ts'
import { watch } from '../../terminal/watch.ts'

interface StatusOptions {
  readonly section?: string
  /** The interval in seconds. */
  readonly watch?: number
}

export const showStatus = async (context: ConfiguredContext<StatusOptions>): Promise<void> => {
  const { io, exit, options, config, source, gather, print } = context
  const isArguments = options.section === ARGUMENTS
  const sections = options.section === undefined || isArguments ? [] : sectionsOf(options.section, context)
  const read = async (): Promise<Page> => {
    const snapshot = await readSnapshot(io, config)
    return {
      view: createView(snapshot),
      listen: config.listen,
      source,
      sections: isArguments ? [await readArguments(io, config, snapshot)] : sections,
    }
  }
  if (options.watch !== undefined) {
    await watch(io, options.watch, async () => {
      const page = await read()
      const lines = options.json ? [JSON.stringify(toJson(statusDocument(page)))] : renderPage(page, createStyle(io))
      return { lines, isFromNode: page.view.snapshot.origin === 'node' }
    })
  } else {
    const page = await gather(read)
    print({ document: () => statusDocument(page), lines: (style) => renderPage(page, style) })
  }
  exit(0)
}

const readArguments = async (io: Io, config: Config, snapshot: NodeSnapshot): Promise<Section> => {
  const { clock, path, signal, exec = createExec({ clock, path }) } = sourceContext(io)
  return argumentsSection(await readUnitArguments({ config, snapshot, exec, files: keyFiles, signal }))
}

const sectionsOf = (asked: string, { config }: Pick<ConfiguredContext<object>, 'config'>): readonly Section[] => {
  const sections = sectionsFor(asked, config)
  if (sections.length > 0) return sections
  const near = suggestSection(asked, config)
  const others = [...SECTIONS.map(({ name }) => name), ARGUMENTS].join(', ')
  throw new UsageError(
    `no such section or service: '${oneLine(asked)}'\n` +
      (near === undefined ? `Sections: ${others}, ${ALL}.` : `(Did you mean ${near}?)`),
  )
}
