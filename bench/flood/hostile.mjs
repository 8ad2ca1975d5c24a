// Servers and clients that send as much as a limit of bytes permits. Each is a process of its own, next to the one that is measured.
//   node hostile.mjs server PORT           answers every request with the text of its path: /objects
//   node hostile.mjs node PORT URL METHOD  a node: forwards all to URL but this method, whose result is the text of the path
//   node hostile.mjs clients URL TEXT N    N connections that send 1 MiB bodies until the process is stopped
import { Agent, createServer, request } from 'node:http'
import { gzipSync } from 'node:zlib'

const MiB = 1024 * 1024

const repeated = (length, unit) => `[${unit.repeat(Math.floor((length - 4) / unit.length))}{}]`

const numbered = (length, open, memberOf) => {
  const members = []
  for (let size = 2; size < length - 30; size += members.at(-1).length + 1) members.push(memberOf(members.length))
  return `${open}${members.join()}${open === '[' ? ']' : '}'}`
}

/** JSON of about this length with many values, or none. */
const TEXTS = {
  objects: (length) => repeated(length, '{},'),
  members: (length) => repeated(length, '{"a":1},'),
  lists: (length) => repeated(length, '[0],'),
  keys: (length) => numbered(length, '{', (index) => `"k${index}":1`),
  'other keys': (length) => numbered(length, '[', (index) => `{"k${index}":1}`),
  spaces: (length) => `[${' '.repeat(length - 2)}]`,
  escapes: (length) => `["${String.raw`\u0041`.repeat(Math.floor((length - 4) / 6))}"]`,
  series: (length) => 'a 1\n'.repeat(length / 4),
}

/** A query of the service with 10,000 topics. */
const topics = () => {
  const values = Array.from({ length: 10_000 }, (_, index) => `0x${index.toString(16).padStart(64, '0')}`)
  return JSON.stringify({ from_block: 0, logs: [{ topics: [values] }], field_selection: { log: ['data'] } })
}

const nameOf = ({ url }) => decodeURIComponent(url.split('/')[1] ?? '')

const serve = (port) => {
  const bodies = new Map()
  createServer((incoming, response) => {
    const name = nameOf(incoming)
    if (!bodies.has(name)) bodies.set(name, gzipSync(TEXTS[name](8 * MiB)))
    incoming.resume()
    response.setHeader('content-encoding', 'gzip').end(bodies.get(name))
  }).listen(port, '127.0.0.1')
}

const serveNode = (port, target, method) => {
  const results = new Map()
  const resultOf = (text) => {
    if (!results.has(text)) results.set(text, gzipSync(`{"jsonrpc":"2.0","id":1,"result":${TEXTS[text](63 * MiB)}}`))
    return results.get(text)
  }
  const answer = async (incoming, response) => {
    let body = ''
    for await (const chunk of incoming.setEncoding('utf8')) body += chunk
    if (body.includes(`"${method}"`)) {
      response.setHeader('content-encoding', 'gzip').end(resultOf(nameOf(incoming)))
      return
    }
    const headers = { 'content-type': 'application/json' }
    response.end(await (await fetch(target, { method: 'POST', headers, body })).text())
  }
  createServer((incoming, response) => {
    answer(incoming, response).catch(() => response.destroy())
  }).listen(port, '127.0.0.1')
}

const send = (url, text, connections) => {
  const body = text === 'topics' ? topics() : TEXTS[text](MiB - 1)
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const again = () => {
    const sent = request(url, { method: 'POST', agent, headers }, (response) => response.resume().on('end', again))
    sent.on('error', () => setTimeout(again, 10)).end(body)
  }
  for (let connection = 0; connection < connections; connection += 1) again()
}

const [role, first, second, third] = process.argv.slice(2)
if (role === 'server') serve(Number(first))
else if (role === 'node') serveNode(Number(first), second, third)
else send(first, second, Number(third))
