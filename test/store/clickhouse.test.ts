import { afterAll, beforeAll } from 'vitest'
import { storeContract } from '../query/store.contract.ts'
import { type ClickHouse, clickHousePlace, probeClickHouse, startClickHouse } from '../support/clickhouse.ts'
import { requireRealPart } from '../support/real-parts.ts'

const describeReal = await requireRealPart('ClickHouse', probeClickHouse)

describeReal('ClickHouse', () => {
  let servers: ClickHouse
  beforeAll(async () => {
    servers = await startClickHouse(2)
  })
  afterAll(async () => servers.stop())

  storeContract('ClickHouse on two servers', async () => clickHousePlace(servers), { durable: true, seeds: [11] })
})
