import { renderExampleConfig, describeSource, renderSettings, settingsAsJson } from '../../config/render.ts'
import { configOf } from '../../cli/config.ts'
import type { ConfigOptions } from '../../cli/config-options.ts'
import type { ActionContext } from '../../cli/io.ts'

export interface Options extends ConfigOptions {
  readonly json?: true
  readonly example?: true
}

export const printConfig = ({ io, exit, options }: ActionContext<Options>): void => {
  if (options.example) io.stdout.write(renderExampleConfig())
  else {
    const { settings, source } = configOf(io, options)
    const text = options.json
      ? JSON.stringify({ file: source?.path ?? null, settings: settingsAsJson(settings) }, undefined, 2)
      : `# configuration file: ${describeSource(source)}\n${renderSettings(settings)}`
    io.stdout.write(`${text}\n`)
  }
  exit(0)
}
