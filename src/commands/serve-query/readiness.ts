import type { IngestPhase } from '../../query/service/ingest/state.ts'

/** What is known of the service; null where it is not. */
interface Standing {
  /** Null until the store is open. */
  readonly phase: IngestPhase | null
  readonly nodeHeight: number | null
  readonly height: number | null
  readonly readyLag: number
}

/** What the service waits for before it can be asked as if it were the chain; nothing when it is ready. */
export const waitingFor = (standing: Standing): readonly string[] => {
  const { phase, nodeHeight, height, readyLag } = standing
  if (phase === null) return ['the store']
  if (phase === 'stopped') return ['somebody who reads the log: the ingest has stopped']
  if (nodeHeight === null) return ['the node to tell its finalized block']
  if (height === null) return ['the first block']
  const behind = nodeHeight - height
  return behind > readyLag ? [`${behind} blocks of the node`] : []
}
