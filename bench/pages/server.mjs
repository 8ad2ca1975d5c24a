// Serves a store by the API of serve-query, and the CPU time of this process, in seconds, at /cpu. Prints its URL.
//   node server.mjs FOLDER
import { createServer } from 'node:http'
import { systemClock } from '../../.cache/modules/src/core/clock.js'
import { createQueryApi } from '../../.cache/modules/query/service/api/api.js'
import { openStore } from './open-store.mjs'

const store = await openStore(process.argv[2])
const { last } = await store.range()
const { handle } = createQueryApi({
  store,
  scope: { addresses: [], topics: [] },
  height: () => last,
  dialect: 'hosted',
  access: { keys: [], requestsPerMinute: null },
  limits: { pageBytes: 2 ** 30 },
  clock: systemClock,
  observer: { requestFinished: () => undefined },
  onError: (error) => console.error(error),
})
const server = createServer((request, response) => {
  if (request.url !== '/cpu') {
    handle(request, response)
    return
  }
  const { user, system } = process.cpuUsage()
  response.end(JSON.stringify((user + system) / 1e6))
})
// A client may need longer than the default of five seconds for a page.
server.keepAliveTimeout = 0
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
