import type { Config } from '../../config/schema.ts'
import type { NodeSnapshot } from '../../health/snapshot.ts'
import { createReadOnlyCheckpoints } from '../../sources/checkpoint.ts'

/**
 * The public key of the node: from the configuration, from the status report that the agent has read, or as the agent
 * has saved it; null if it is unknown.
 */
export const ownKeyOf = async (
  { node, state }: Pick<Config, 'node' | 'state'>,
  agent: NodeSnapshot | null,
): Promise<string | null> =>
  node.publicKey ?? agent?.readings.status?.config.secpPublicKey ?? (await savedKey(state.directory))

/** The key as saved by the agent on this host, if it has found it. */
export const savedKey = async (directory: string): Promise<string | null> => {
  const found = await createReadOnlyCheckpoints(directory).open('derived').read()
  if (found.state !== 'saved' || typeof found.value !== 'object' || found.value === null) return null
  return 'key' in found.value && typeof found.value.key === 'string' ? found.value.key : null
}
