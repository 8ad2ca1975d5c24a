import type { Finding, Severity } from '../finding.ts'

type Words = Partial<Pick<Finding, 'evidence' | 'advice' | 'subject'>>

/** A finding about the node's work, where nothing else is said. */
export const finding = (
  name: string,
  { severity, says }: { readonly severity: Severity; readonly says: string },
  words: Words = {},
): Finding => ({ name, severity, says, evidence: [], advice: [], subject: 'work', ...words })

interface Limit {
  readonly warning?: number
  readonly critical?: number
}

/** How bad a figure is that should stay below its limits; undefined where it does, or is unknown. */
export const above = (
  value: number | undefined,
  { warning, critical }: Limit,
): 'critical' | 'warning' | undefined => {
  if (value === undefined) return undefined
  if (critical !== undefined && value > critical) return 'critical'
  return warning !== undefined && value > warning ? 'warning' : undefined
}

/** The same for one that should stay above. */
export const below = (
  value: number | undefined,
  { warning, critical }: Limit,
): 'critical' | 'warning' | undefined => {
  if (value === undefined) return undefined
  if (critical !== undefined && value < critical) return 'critical'
  return warning !== undefined && value < warning ? 'warning' : undefined
}
