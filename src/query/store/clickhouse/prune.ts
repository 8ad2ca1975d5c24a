import { LEDGER, LOCAL_LOGS, STATE } from './schema.ts'
import type { Servers } from './servers.ts'

/** From now on nothing before it is seen. */
export const raiseFloor = async (servers: Servers, floor: number): Promise<void> =>
  servers.insertEverywhere(
    `INSERT INTO ${STATE} (key, value, text) FORMAT TabSeparated`,
    `floor\t${floor}\t\n`,
  )

/** Gives back what lies wholly before the floor; the rest goes with a later one. */
export const dropBelow = async (
  servers: Servers,
  { floor, partition }: { readonly floor: number; readonly partition: number },
): Promise<void> => {
  const { hosts, database } = servers.place
  let dropped = false
  for (const host of hosts) {
    const rows = await servers.ask(
      `SELECT DISTINCT partition FROM system.parts WHERE database = '${database}' AND table = '${LOCAL_LOGS}' AND active`,
      host,
    )
    const gone = rows
      .map(([name]) => Number(name))
      .filter((name) => (name + 1) * partition <= floor)
    for (const name of gone) {
      await servers.ask(`ALTER TABLE ${LOCAL_LOGS} DROP PARTITION ${name}`, host)
      dropped = true
    }
  }
  if (dropped) await servers.ask(`ALTER TABLE ${LEDGER} DELETE WHERE number < ${floor}`)
}
