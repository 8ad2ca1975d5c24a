import { resolve } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { ParseError, SourceError } from '../../core/errors.ts'
import { hour } from '../../core/units.ts'
import { checkBundleFile, gatherBundle, stampOf, writeBundle } from './bundle.ts'
import { preflight } from '../check/preflight.ts'
import type { NodeSnapshot } from '../../health/snapshot.ts'
import { renderContents, renderWritten, verdictText } from './render.ts'
import { configOf } from '../../terminal/config.ts'
import type { ConfigOptions } from '../../terminal/config-options.ts'
import { type Io, type ActionContext, sourceContext } from '../../terminal/io.ts'
import { createProgress } from '../../terminal/progress.ts'
import { createStyle } from '../../terminal/style.ts'
import { readFromNode, readSnapshot } from '../shared/read-snapshot.ts'

interface Options extends ConfigOptions {
  readonly output?: string
  readonly since?: number
  readonly logs: boolean
  readonly list?: true
}

export const bundle = async ({ io, exit, options }: ActionContext<Options>): Promise<void> => {
  const { config, settings } = configOf(io, options)
  const { clock } = io
  const source = sourceContext(io)
  const fileAt = (at: number): string => resolve(options.output ?? `chain-agent-bundle-${stampOf(at)}.tar.gz`)
  // Fail early: gathering takes seconds.
  if (!options.list) await checkBundleFile(fileAt(clock.now()))
  const snapshot = await snapshotOf(io, options, config)
  const progress = createProgress(io)
  try {
    progress.show('Checking the host')
    const more = await preflight({ config, snapshot, ...source })
    const members = await gatherBundle({
      config,
      snapshot,
      ...source,
      settings,
      verdict: verdictText(snapshot, more),
      logsSince: options.logs ? (options.since ?? clock.now() - hour) : null,
      onStep: (step) => {
        progress.show(`Gathering ${step}`)
      },
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
    if (!io.signal.aborted) throw error
    progress.end()
    io.stderr.write('Interrupted; nothing was written.\n')
    exit(1)
  } finally {
    progress.end()
  }
}

/** Reads from the agent, or from the node if no agent answers. */
const snapshotOf = async (io: Io, options: Options, config: Config): Promise<NodeSnapshot> => {
  try {
    return (await readSnapshot(io, options)).snapshot
  } catch (error) {
    if (error instanceof SourceError || error instanceof ParseError) return readFromNode(io, config)
    throw error
  }
}
