import { afterAll, beforeAll } from 'vitest'
import { storeContract } from '../query/store.contract.ts'
import { type ClickHouse, clickHousePlace, requireClickHouse, startClickHouse } from '../support/clickhouse.ts'

const describeReal = await requireClickHouse()

describeReal('ClickHouse', () => {
  let servers: ClickHouse
  beforeAll(async () => {
    servers = await startClickHouse(2)
  })
  afterAll(async () => servers.stop())

  storeContract('ClickHouse on two servers', async () => clickHousePlace(servers), [11])
})
