import { systemClock } from '../../.cache/modules/src/core/clock.js'
import { openDuckDbStore } from '../../.cache/modules/query/store/duckdb/store.js'

const scope = { addresses: [], topics: [] }

export const openStore = async (folder) => {
  const store = await openDuckDbStore(`${folder}/duckdb`, { identity: { chainId: 1, scope }, clock: systemClock })
  return store
}
