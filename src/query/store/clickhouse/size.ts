import { LEDGER, LOCAL_LOGS, STATE } from './schema.ts'
import type { Servers } from './servers.ts'

/** On all servers together, replicas too. */
export const bytesOnDisk = async (servers: Servers): Promise<number> => {
  const { hosts, database } = servers.place
  const tables = [LOCAL_LOGS, LEDGER, STATE].map((name) => `'${name}'`).join(', ')
  const sums = await Promise.all(
    hosts.map(async (host) =>
      servers.ask(
        `SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = '${database}' AND table IN (${tables})`,
        host,
      ),
    ),
  )
  return sums.reduce((sum, [row]) => sum + Number(row?.[0]), 0)
}
