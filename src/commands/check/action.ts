import { describeSource } from '../../config/render.ts'
import type { Config } from '../../config/schema.ts'
import { resolveFolders } from '../../domain/key-paths.ts'
import { keyFiles } from '../../sources/key-files.ts'
import { preflight } from './preflight.ts'
import { summarize } from '../../health/summary.ts'
import { diagnose } from '../../health/diagnosis.ts'
import type { ConfigOptions } from '../../terminal/config-options.ts'
import { unlessInterrupted, type ActionContext, sourceContext } from '../../terminal/io.ts'
import { type OutputOptions, printResult } from '../../terminal/output.ts'
import { checkLines, diagnosisDocument } from '../../terminal/diagnosis.ts'
import { readSnapshot } from '../shared/read-snapshot.ts'

export const check = async (context: ActionContext<ConfigOptions & OutputOptions>): Promise<void> => {
  const { io, exit, options } = context
  const gatheredData = await unlessInterrupted(io, exit, async () => {
    const { snapshot, config, source } = await readSnapshot(io, options)
    const setUp = await preflight({ config, snapshot, ...sourceContext(io) })
    return { snapshot, config, source, setUp, paths: await foundPaths(config, snapshot.prefix) }
  })
  if (!gatheredData) return
  const { snapshot, config, source, setUp, paths } = gatheredData
  const diagnosis = diagnose(snapshot)
  // 1 if only the set-up of the host has a warning.
  const exitCode =
    diagnosis.exitCode === 0 && setUp.some(({ severity }) => severity === 'warning') ? 1 : diagnosis.exitCode
  const { publicKey } = config.node
  const facts = [
    ...summarize(snapshot),
    ...(publicKey === null ? [] : [{ label: 'own key', value: publicKey }]),
    ...(paths === null ? [] : [{ label: "the node's files", value: paths }]),
    { label: 'configuration', value: describeSource(source) },
  ]
  const { verdict, recovery } = diagnosisDocument(diagnosis)
  printResult(context, {
    document: () => ({
      verdict: { ...verdict, exitCode },
      recovery,
      findings: diagnosis.causes,
      setUp,
      facts: Object.fromEntries(facts.map(({ label, value }) => [label, value])),
    }),
    lines: (style) => checkLines({ diagnosis, setUp, facts }, style),
  })
  exit(exitCode)
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
