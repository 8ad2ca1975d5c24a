import { ifUnreadable } from '../../core/errors.ts'
import { isObject } from '../../core/json.ts'
import type { Config } from '../../config/schema.ts'
import { createReadOnlyCheckpoints } from '../../sources/checkpoint.ts'
import { fetchSnapshot, type FetchSnapshotOptions } from './agent-snapshot.ts'

/**
 * The public key of the node: from the configuration, from the status report that the agent has read, or as the agent
 * has saved it; null if it is unknown.
 */
export const findOwnKey = async (
  options: FetchSnapshotOptions & { readonly config: Config },
): Promise<string | null> => {
  const { node, state } = options.config
  return node.publicKey ?? (await reportedKey(options)) ?? (await savedKey(state.directory))
}

/** The ledger can be read without an agent. */
const reportedKey = async (options: FetchSnapshotOptions): Promise<string | null> => {
  const snapshot = await fetchSnapshot(options).catch(ifUnreadable(() => null))
  return snapshot?.readings.status?.config.secpPublicKey ?? null
}

/** The key as saved by the agent on this host, if it has found it. */
export const savedKey = async (directory: string): Promise<string | null> => {
  const { value } = await createReadOnlyCheckpoints(directory).open('derived').read()
  return isObject(value) && typeof value['key'] === 'string' ? value['key'] : null
}
