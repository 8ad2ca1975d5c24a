import type { Config } from '../../../config/schema.ts'
import type { Clock } from '../../../core/clock.ts'
import type { Access } from '../../../sources/permissions.ts'
import type { Exec } from '../../../sources/exec.ts'
import type { SendRequest } from '../../../sources/http.ts'
import type { KeyFiles } from '../../../sources/key-files.ts'
import type { Finding, Severity } from '../../../health/finding.ts'
import type { Picture } from '../../../health/picture.ts'

/** A host that is looked over, and what to look with. */
export interface Visit {
  readonly config: Config
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly picture: Picture
  readonly exec: Exec
  readonly ask: SendRequest
  readonly access: Access
  /** Reads files that may hold secrets, and lets nothing of them out. */
  readonly files: Pick<KeyFiles, 'read'>
}

/** Looks at one matter of the host; may throw a SourceError or a ParseError where it could not. */
export interface Look {
  /** As in "could not look at …". */
  readonly at: string
  look(visit: Visit): Promise<readonly Finding[]>
}

type Words = Pick<Finding, 'says'> & Partial<Pick<Finding, 'evidence' | 'advice' | 'subject'>>

export const finding = (name: string, severity: Severity, words: Words): Finding => ({
  name,
  severity,
  evidence: [],
  advice: [],
  subject: 'work',
  ...words,
})
