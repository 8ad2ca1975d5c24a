import type { SampleIndex } from '../../core/sample-index.ts'
import type { RUNNING_SOURCES } from './definition.ts'
import { versionIn } from '../../parsers/version-number.ts'

/** The version of a process that runs, and who tells it. */
export interface Running {
  readonly source: (typeof RUNNING_SOURCES)[number]
  readonly version: string
}

/** RPC and consensus are processes of their own: after half a restart they are of two versions. */
export const runningVersions = (known: SampleIndex): readonly Running[] => {
  const rpc = versionIn(labelOf(known, 'chain_rpc_info', 'client_version'))
  const native = versionIn(labelOf(known, 'chain_native_info', 'version'))
  return [
    ...(rpc === null ? [] : [{ source: 'rpc' as const, version: rpc }]),
    ...(native === null ? [] : [{ source: 'native' as const, version: native }]),
  ]
}

/** By the RPC, else by the status report, which tells it also while nothing listens. */
export const chainIdOf = (known: SampleIndex): string | null =>
  labelOf(known, 'chain_rpc_info', 'chain_id') ?? labelOf(known, 'chain_status_info', 'chain_id')

/** The kind that every version calls by one name: one value a slot. The page-encoded has the maker's word. */
const BY_SLOT = 'ethereum'

/**
 * Whether the database has a page-encoded timeline, primary or secondary: by the storage report, else by
 * consensus. A kind that nobody knows may be either.
 */
export const hasPageTimeline = (known: SampleIndex, word: string): boolean | null => {
  const kinds = known.series('chain_storage_timeline_info').map(({ labels }) => labels['kind'])
  if (kinds.includes(word)) return true
  if (kinds.length > 0 && kinds.every((kind) => kind === BY_SLOT)) return false
  const legacy = known.value('chain_native_migration_phase', { phase: 'legacy' })
  return kinds.length > 0 || legacy === undefined ? null : legacy === 0
}

const labelOf = (
  known: SampleIndex,
  metric: 'chain_rpc_info' | 'chain_native_info' | 'chain_status_info',
  label: string,
): string | null => known.series(metric)[0]?.labels[label] || null
