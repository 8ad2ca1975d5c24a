// What the store asks of a ClickHouse over HTTP, answered by the engine inside this process: node server.mjs DIRECTORY
import { createServer } from 'node:http'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Session } from 'chdb'

const [, , directory] = process.argv
await mkdir(join(directory, 'data'), { recursive: true })
const session = new Session(join(directory, 'data'))
const ask = async (statement) => await session.queryAsync(statement, { format: 'TabSeparated' })

/** Of the HTTP interface, not of the engine. */
const NO_SETTING = ['database', 'query', 'query_id', 'wait_end_of_query', 'buffer_size']

const settled = new Map()
/** Where it is not so already. */
const once = async (statement, what) => {
  if (settled.get(what) === statement) return
  await ask(statement)
  settled.set(what, statement)
}

/** The engine takes the rows of an insert from a file, never from the statement: that would have to be text. */
const insert = async (statement, body) => {
  const [, head, format] = /^(.*) FORMAT (\w+)$/s.exec(statement)
  const file = join(directory, 'rows')
  await writeFile(file, body)
  await ask(`${head} FROM INFILE '${file}' COMPRESSION 'none' FORMAT ${format}`)
  await rm(file)
  return Buffer.alloc(0)
}

const answer = async (request) => {
  const { searchParams } = new URL(request.url, 'http://127.0.0.1')
  const body = Buffer.concat(await request.toArray())
  await once(`USE ${searchParams.get('database') ?? 'default'}`, 'USE')
  for (const [name, value] of searchParams) if (!NO_SETTING.includes(name)) await once(`SET ${name} = '${value}'`, name)
  const statement = searchParams.get('query')
  if (statement !== null) return insert(statement, body)
  return Buffer.from((await ask(body.toString())).bytes())
}

// One after the other: a session has one database and one set of settings.
let last = Promise.resolve()
const server = createServer((request, response) => {
  last = last.then(async () => {
    try {
      response.end(await answer(request))
    } catch (error) {
      response.writeHead(500).end(String(error))
    }
  })
})
server.listen(0, '127.0.0.1', () => console.log(`127.0.0.1:${server.address().port}`))
