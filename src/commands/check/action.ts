import { describeSource } from '../../config/render.ts'
import type { Config } from '../../config/schema.ts'
import { toJson } from '../../core/json.ts'
import { resolveFolders } from '../../core/key-paths.ts'
import { keyFiles } from '../../sources/key-files.ts'
import { preflight } from './preflight.ts'
import { type Fact, summarize } from '../../health/summary.ts'
import { evaluateHealth, type HealthVerdict } from '../../health/verdict.ts'
import { configOf } from '../../cli/config.ts'
import type { ConfigOptions } from '../../cli/config-options.ts'
import { unlessInterrupted, type Io, type ActionContext } from '../../cli/io.ts'
import { createStyle } from '../../cli/terminal/style.ts'
import { checkLines } from '../../cli/terminal/verdict.ts'
import { readFromNode } from '../shared/read-snapshot.ts'

export type CheckOptions = ConfigOptions & { readonly json?: true }

export const check = async ({ io, exit, options }: ActionContext<CheckOptions>): Promise<void> => {
  const { config, source } = configOf(io, options)
  const path = io.env['PATH'] ?? '/usr/bin:/bin'
  const { clock, signal, overrides } = io
  const gatheredData = await unlessInterrupted(io, exit, async () => {
    const snapshot = await readFromNode(io, config)
    const more = await preflight({ config, clock, path, signal, snapshot, ...overrides })
    return { snapshot, more, paths: await foundPaths(config, snapshot.prefix) }
  })
  if (!gatheredData) return
  const { snapshot, more, paths } = gatheredData
  const verdict = evaluateHealth(snapshot, more)
  const { publicKey } = config.node
  const facts = [
    ...summarize(snapshot),
    ...(publicKey === null ? [] : [{ label: 'own key', value: publicKey }]),
    ...(paths === null ? [] : [{ label: "the node's files", value: paths }]),
    { label: 'configuration', value: describeSource(source) },
  ]
  io.stdout.write(options.json ? renderJson(verdict, facts) : render(io, verdict, facts))
  exit(verdict.exitCode)
}

/** The paths of the node that were found, not configured; null if there are none. */
const foundPaths = async ({ node }: Config, prefix: string | null): Promise<string | null> => {
  if (prefix === null || !node.directory.includes('{prefix}')) return null
  const { directory, environmentFile } = await resolveFolders(node, { prefix, files: keyFiles })
  const found = await Promise.all(
    [directory, environmentFile].map(async (path) => (typeof (await keyFiles.look(path)) === 'object' ? [path] : [])),
  )
  return found.flat().join(', ') || null
}

const render = (io: Io, verdict: HealthVerdict, facts: readonly Fact[]): string => {
  const style = createStyle(io)
  return `${checkLines(verdict, facts, style).join('\n')}\n`
}

const renderJson = ({ word, sentence, exitCode, findings }: HealthVerdict, facts: readonly Fact[]) => {
  const known = Object.fromEntries(facts.map(({ label, value }) => [label, value]))
  const value = { verdict: { word, sentence, exitCode }, findings, facts: known }
  return `${JSON.stringify(toJson(value), undefined, 2)}\n`
}
