import { describeSource } from '../../config/render.ts'
import type { Config } from '../../config/schema.ts'
import { resolveFolders } from '../../domain/key-paths.ts'
import { keyFiles } from '../../sources/key-files.ts'
import { preflight } from './preflight.ts'
import { type Fact, summarize } from '../../health/summary.ts'
import { type Diagnosis, diagnose } from '../../health/diagnosis.ts'
import type { Finding } from '../../health/finding.ts'
import type { ConfigOptions } from '../../terminal/config-options.ts'
import { unlessInterrupted, type ActionContext, sourceContext } from '../../terminal/io.ts'
import { type OutputOptions, printResult } from '../../terminal/output.ts'
import { checkLines } from '../../terminal/diagnosis.ts'
import { readSnapshot } from '../shared/read-snapshot.ts'

type CheckOptions = ConfigOptions & OutputOptions

export const check = async ({ io, exit, options }: ActionContext<CheckOptions>): Promise<void> => {
  const gatheredData = await unlessInterrupted(io, exit, async () => {
    const { snapshot, config, source } = await readSnapshot(io, options)
    const setUp = await preflight({ config, snapshot, ...sourceContext(io) })
    return { snapshot, config, source, setUp, paths: await foundPaths(config, snapshot.prefix) }
  })
  if (!gatheredData) return
  const { snapshot, config, source, setUp, paths } = gatheredData
  const diagnosis = diagnose(snapshot)
  const exitCode =
    diagnosis.exitCode === 0 && setUp.some(({ severity }) => severity === 'warning') ? 1 : diagnosis.exitCode
  const { publicKey } = config.node
  const facts = [
    ...summarize(snapshot),
    ...(publicKey === null ? [] : [{ label: 'own key', value: publicKey }]),
    ...(paths === null ? [] : [{ label: "the node's files", value: paths }]),
    { label: 'configuration', value: describeSource(source) },
  ]
  const checked = { diagnosis, exitCode, setUp, facts } as const
  printResult({ io, options }, { document: () => asJson(checked), lines: (style) => checkLines(checked, style) })
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

interface Checked {
  readonly diagnosis: Diagnosis
  /** That of the diagnosis; 1 if only the set-up of the host has a warning. */
  readonly exitCode: Diagnosis['exitCode']
  readonly setUp: readonly Finding[]
  readonly facts: readonly Fact[]
}

const asJson = ({ diagnosis: { word, sentence, recovery, causes }, exitCode, setUp, facts }: Checked) => {
  const known = Object.fromEntries(facts.map(({ label, value }) => [label, value]))
  const { path, summary, left } = recovery
  return {
    verdict: { word, sentence, exitCode },
    recovery: { path, summary, left },
    findings: causes,
    setUp,
    facts: known,
  }
}
