import type { Config } from '../../../config/schema.ts'
import type { Clock } from '../../../core/clock.ts'
import type { Access } from '../../../sources/process.ts'
import type { Exec } from '../../../sources/exec.ts'
import type { SendRequest } from '../../../sources/http.ts'
import type { FileTree } from '../../../sources/file-tree.ts'
import type { KeyFiles } from '../../../sources/key-files.ts'
import type { Finding, Severity } from '../../../health/finding.ts'
import type { NodeSnapshot } from '../../../health/snapshot.ts'

/** What preflight checks need: the configuration, the snapshot of the node, and access to the host. */
export interface PreflightContext {
  readonly config: Config
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly snapshot: NodeSnapshot
  readonly exec: Exec
  readonly ask: SendRequest
  readonly access: Access
  readonly procfs: Pick<FileTree, 'read'>
  readonly sysfs: Pick<FileTree, 'read' | 'list'>
  /** Reads files that may contain secrets, and returns only what the reader extracts from them. */
  readonly files: Pick<KeyFiles, 'read' | 'look'>
}

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
