import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { plainChain, startQueryApi } from '../query/api/fixtures.ts'
import { it } from '../support/directory.ts'
import { must } from '../support/programs.ts'
import { word } from '../support/store-cases.ts'
import { describeClients } from './clients.ts'

const PAGE = join(import.meta.dirname, '../../docs/how-to/official-client.md')
const CLIENT = join(import.meta.dirname, 'node_modules/client-1.3.0')
const URL_OF_PAGE = 'http://127.0.0.1:8181'

const [CONTRACT, OTHER] = ['11', '22'].map((byte) => `0x${byte.repeat(20)}`)
const logAt = (logIndex: number, address = '') => ({
  logIndex,
  transactionIndex: 0,
  transactionHash: word(1),
  address,
  topics: [word(2)],
  data: word(logIndex),
})

describeClients('the guide of the official client', () => {
  it('has a program that prints the logs of a contract', async ({ directory, onTestFinished }) => {
    const [, program = ''] = /^ *```js\n([\s\S]*?)^ *```$/m.exec(await readFile(PAGE, 'utf8')) ?? []
    expect(program).toContain(URL_OF_PAGE)
    // The end of the range is exclusive.
    const api = await startQueryApi({
      blocks: plainChain(1_000_000, 1_001_000, {
        1_000_000: [logAt(0, CONTRACT), logAt(1, OTHER)],
        1_000_999: [logAt(0, OTHER), logAt(1, CONTRACT)],
        1_001_000: [logAt(0, CONTRACT)],
      }),
    })
    onTestFinished(api.close)
    await mkdir(join(directory, 'node_modules/@envio-dev'), { recursive: true })
    await symlink(CLIENT, join(directory, 'node_modules/@envio-dev/hypersync-client'))
    await writeFile(join(directory, 'logs.mjs'), program.replace(URL_OF_PAGE, `http://127.0.0.1:${api.port}`))
    const printed = await must(process.execPath, ['logs.mjs'], { cwd: directory })
    const rows: readonly unknown[] = printed.split('\n').map((line): unknown => JSON.parse(line))
    const topics = [word(2), null, null, null]
    expect(rows).toEqual([
      { blockNumber: 1_000_000, logIndex: 0, data: word(0), topics },
      { blockNumber: 1_000_999, logIndex: 1, data: word(1), topics },
    ])
  })
})
