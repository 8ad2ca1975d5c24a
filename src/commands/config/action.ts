import { describeSource, renderExampleConfig, renderSettings, settingsAsJson } from '../../config/render.ts'
import type { ConfigOptions } from '../../terminal/config-options.ts'
import { configOf } from '../../terminal/config.ts'
import type { ActionContext } from '../../terminal/io.ts'
import { jsonText, linesText, type OutputOptions } from '../../terminal/output.ts'

type Options = ConfigOptions & OutputOptions & { readonly example?: true }

export const printConfig = ({ io, exit, options }: ActionContext<Options>): void => {
  if (options.example) io.stdout.write(renderExampleConfig())
  else {
    const { settings, source } = configOf(io, options)
    // Not in ASCII in any locale: it is the text of a configuration.
    io.stdout.write(
      options.json
        ? jsonText({ file: source?.path ?? null, settings: settingsAsJson(settings) })
        : linesText([`# configuration file: ${describeSource(source)}`, renderSettings(settings)]),
    )
  }
  exit(0)
}
