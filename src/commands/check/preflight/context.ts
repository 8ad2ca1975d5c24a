import type { Config } from '../../../config/schema.ts'
import { createAccess } from '../../../sources/process.ts'
import { createExec } from '../../../sources/exec.ts'
import { createHttpClient } from '../../../sources/http.ts'
import { createFileTree } from '../../../sources/file-tree.ts'
import { keyFiles } from '../../../sources/key-files.ts'
import type { Finding, Severity } from '../../../health/finding.ts'
import type { NodeSnapshot } from '../../../health/snapshot.ts'
import type { SourceContext } from '../../../terminal/io.ts'

export interface PreflightOptions extends SourceContext {
  readonly config: Config
  readonly snapshot: NodeSnapshot
}

/** What preflight checks need: the configuration, the snapshot of the node, and access to the host. */
export const createContext = ({ config, snapshot, clock, path, signal, ...overrides }: PreflightOptions) => ({
  config,
  clock,
  signal,
  snapshot,
  exec: overrides.exec ?? createExec({ clock, path }),
  ask: overrides.ask ?? createHttpClient(clock),
  access: createAccess(),
  procfs: createFileTree(config.host.procfs),
  sysfs: createFileTree(config.host.sysfs),
  /** Reads files that may contain secrets, and returns only what the reader extracts from them. */
  files: keyFiles,
})

export type PreflightContext = ReturnType<typeof createContext>

/** Checks one aspect of the host. */
export interface PreflightCheck {
  /** What is checked, as in "NAME could not be checked". */
  readonly name: string
  /** May throw a SourceError or a ParseError if it could not check. */
  run(context: PreflightContext): readonly Finding[] | Promise<readonly Finding[]>
}

type FindingDetails = Pick<Finding, 'summary'> & Partial<Pick<Finding, 'evidence' | 'advice'>>

/** A list of one, as checks return it. */
export const finding = (name: string, severity: Severity, details: FindingDetails): readonly Finding[] => [
  { name, severity, evidence: [], advice: [], ...details },
]
