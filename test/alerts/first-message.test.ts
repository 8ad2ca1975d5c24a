import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { amtool, requireAlertmanager, startAlertmanager } from '../support/alertmanager.ts'
import { cli } from '../support/cli.ts'
import { it } from '../support/directory.ts'
import { freePort } from '../support/free-port.ts'
import { run } from '../support/programs.ts'
import { ALERTS } from './files.ts'

const PAGE = 'docs/how-to/first-message.md'
const describe = await requireAlertmanager()

interface Received {
  readonly path: string
  readonly body: string
}

/** In place of the API of Telegram: it accepts every message. */
const listen = async () => {
  const received: Received[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({ path: request.url ?? '', body })
      response.setHeader('content-type', 'application/json')
      response.end('{"ok":true,"result":{"message_id":1,"chat":{"id":42}}}')
    })
  })
  const port = await freePort()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${port}`, received, close: (): void => void server.close() }
}

describe('the page about the first message', () => {
  it('has a configuration with which its test alert arrives', async ({ directory, onTestFinished }) => {
    const telegram = await listen()
    onTestFinished(telegram.close)
    const page = await readFile(PAGE, 'utf8')
    const [, written = ''] = /alertmanager\.yml <<END\n([^]*?)\nEND\n/.exec(page) ?? []
    const config = join(directory, 'alertmanager.yml')
    await writeFile(
      config,
      written
        .replace('/etc/prometheus/chain.tmpl', join(ALERTS, 'chain.tmpl'))
        .replace("bot_token: '$TOKEN'", `bot_token: '1:abc'\n        api_url: ${telegram.url}`)
        .replace('chat_id: $CHAT', 'chat_id: 42')
        .replace('group_wait: 10s', 'group_wait: 2s'),
    )
    const checked = await run(await amtool(), ['check-config', config])
    expect(checked.code, checked.stdout + checked.stderr).toBe(0)
    const { address, stop } = await startAlertmanager(config, join(directory, 'data'))
    onTestFinished(async () => stop())

    const sent = await cli([
      'alert',
      'test',
      '--alertmanager',
      `http://${address}`,
      '--set',
      'alertmanagers.instance=node-a',
    ])
    expect(sent.code, sent.out + sent.err).toBe(0)
    const [message] = telegram.received
    expect(message?.path).toBe('/bot1:abc/sendMessage')
    expect(JSON.parse(message?.body ?? '')).toMatchObject({ chat_id: '42' })
    expect(message?.body).toContain('"CRITICAL node-a: ')
  })
})
