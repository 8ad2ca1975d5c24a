import { isObject } from '../../core/json.ts'
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
  const { value } = await createReadOnlyCheckpoints(directory).open('derived').read()
  return isObject(value) && typeof value['key'] === 'string' ? value['key'] : null
}
