import { describeSource } from '../../config/render.ts'
import type { Config } from '../../config/schema.ts'
import { resolveFolders } from '../../domain/key-paths.ts'
import { keyFiles } from '../../sources/key-files.ts'
import { preflight } from './preflight.ts'
import { createView } from '../../health/sections/section.ts'
import { overviewRows } from '../../health/sections/sections.ts'
import type { ConfiguredContext } from '../../terminal/configured-command.ts'
import { checkLines, diagnosisDocument } from '../../terminal/diagnosis.ts'
import { readSnapshot } from '../shared/read-snapshot.ts'

export const check = async (context: ConfiguredContext<object>): Promise<void> => {
  const { io, exit, config, source, host, gather, print } = context
  const { snapshot, setUp, paths } = await gather(async () => {
    const read = await readSnapshot(io, config)
    const findings = await preflight({ ...host, snapshot: read })
    return { snapshot: read, setUp: findings, paths: await foundPaths(config, read.prefix) }
  })
  const view = createView(snapshot)
  const { diagnosis } = view
  // 1 if only the set-up of the host has a warning.
  const exitCode =
    diagnosis.exitCode === 0 && setUp.some(({ severity }) => severity === 'warning') ? 1 : diagnosis.exitCode
  const { publicKey } = config.node
  const facts = [
    ...overviewRows(view),
    ...(publicKey === null ? [] : [{ label: 'own key', text: publicKey }]),
    ...(paths === null ? [] : [{ label: "the node's files", text: paths }]),
    { label: 'configuration', text: describeSource(source) },
  ]
  const { verdict, recovery } = diagnosisDocument(diagnosis)
  print({
    document: () => ({
      verdict: { ...verdict, exitCode },
      recovery,
      findings: diagnosis.causes,
      setUp,
      facts: Object.fromEntries(facts.map(({ label, text }) => [label, text])),
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
