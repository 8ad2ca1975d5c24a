// Serves a history like the hosted query service: JSON, and the binary pages of the official client.
//   node server.mjs FOLDER        prints its URL when it listens
import { createServer } from 'node:http'
import { openHistory } from './layout.mjs'

const history = openHistory(process.argv[2])

const server = createServer((request, response) => {
  const parts = []
  request.on('data', (part) => parts.push(part))
  request.on('end', () => {
    const send = (type, body) => {
      response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(body) })
      response.end(body)
    }
    if (request.url === '/height') {
      send('application/json', `{"height":${history.height}}`)
      return
    }
    const { from_block: from, to_block: end = history.height + 1 } = JSON.parse(Buffer.concat(parts).toString())
    if (request.url === '/query') send('application/json', history.page(from, end).body)
    else send('application/octet-stream', history.arrowPage(from))
  })
})
// Decoding a page may take longer than the default of five seconds.
server.keepAliveTimeout = 0
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
