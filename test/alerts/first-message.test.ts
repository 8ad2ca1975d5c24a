import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { amtool, requireAlertmanager, startAlertmanager } from '../support/alertmanager.ts'
import { cli } from '../support/cli.ts'
import { it } from '../support/directory.ts'
import { receiving } from '../support/http.ts'
import { run } from '../support/programs.ts'
import { ALERTS } from './files.ts'

const PAGE = 'docs/how-to/first-message.md'
const describe = await requireAlertmanager()

/** What the API of Telegram answers if it accepts a message. */
const ACCEPTED = '{"ok":true,"result":{"message_id":1,"chat":{"id":42}}}'

describe('the page about the first message', () => {
  it('has a configuration with which its test alert arrives', async ({ directory, onTestFinished }) => {
    const telegram = await receiving(200, ACCEPTED, { 'content-type': 'application/json' })
    onTestFinished(telegram.close)
    const page = await readFile(PAGE, 'utf8')
    const [, written = ''] = /alertmanager\.yml <<END\n([^]*?)\nEND\n/.exec(page) ?? []
    const config = written
      .replace('/etc/prometheus/chain.tmpl', join(ALERTS, 'chain.tmpl'))
      .replace("bot_token: '$TOKEN'", `bot_token: '1:abc'\n        api_url: ${telegram.url}`)
      .replace('chat_id: $CHAT', 'chat_id: 42')
      .replace('group_wait: 10s', 'group_wait: 2s')
    const { address, stop } = await startAlertmanager(directory, config)
    onTestFinished(async () => stop())
    const checked = await run(await amtool(), ['check-config', join(directory, 'alertmanager.yml')])
    expect(checked.code, checked.stdout + checked.stderr).toBe(0)

    const argv = ['alert', 'test', '--alertmanager', `http://${address}`, '--set', 'alertmanagers.instance=node-a']
    const sent = await cli(argv)
    expect(sent.code, sent.out + sent.err).toBe(0)
    const [message = ''] = telegram.bodies
    expect(telegram.paths[0]).toBe('/bot1:abc/sendMessage')
    expect(JSON.parse(message)).toMatchObject({ chat_id: '42' })
    expect(message).toContain('"CRITICAL node-a: ')
  })
})
