import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { ALERTMANAGERS, amtool, requireAlertmanager } from '../support/alertmanager.ts'
import { run } from '../support/programs.ts'
import { alerts } from './files.ts'
import { CONFIG, configSchema, labelsOf, readConfig } from './listeners.ts'

for (const version of ALERTMANAGERS) {
  const describeVersion = await requireAlertmanager(version)
  describeVersion(`with Alertmanager ${version}`, () => {
    it('the configuration is accepted', async () => {
      const { code, stdout, stderr } = await run(await amtool(version), ['check-config', CONFIG])
      expect(code, stdout + stderr).toBe(0)
    })

    it.each([
      ['pager', labelsOf('ChainBlockStalled', 'critical')],
      ['pager', labelsOf('ChainAgentAbsent', 'critical', { instance: '' })],
      ['chat', labelsOf('ChainBlockStalled', 'warning')],
      ['chat', labelsOf('ChainKeyFile.exposed', 'warning', { component: 'security' })],
      ['info', labelsOf('ChainStatesync', 'info', { component: 'sync' })],
      ['chat', labelsOf('ChainOfTomorrow', 'unheard-of')],
      ['dead-man', labelsOf('ChainWatchdog', 'none', { instance: '', job: '' })],
      ['chat', labelsOf('ChainMaintenance', 'none')],
      ['none', labelsOf('ChainOfTomorrow', 'none')],
      ['digest', labelsOf('ChainReport', 'info', { component: 'agent', digest: 'true' })],
    ])('%s gets %o', async (receiver, labels) => {
      const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`)
      const args = ['config', 'routes', 'test', `--config.file=${CONFIG}`]
      const verify = `--verify.receivers=${receiver}`
      const { code, stdout, stderr } = await run(await amtool(version), [...args, verify, ...pairs])
      expect(code, stdout + stderr).toBe(0)
    })
  })
}

describe('the configuration of Alertmanager', () => {
  it('information is delivered nowhere, and nothing to this host, where no receiver listens', async () => {
    const { receivers } = await readConfig()
    expect(receivers.find(({ name }) => name === 'info')).toEqual({ name: 'info' })
    expect(receivers.filter((one) => /localhost|127\.|\[::1\]/.test(JSON.stringify(one)))).toEqual([])
  })

  it('the watchdog is sent only once its URL is filled in, as the header says', async () => {
    const { receivers } = await readConfig()
    expect(receivers.find(({ name }) => name === 'dead-man')).toEqual({ name: 'dead-man' })
    const text = await readFile(CONFIG, 'utf8')
    const [, command = ''] = /^#   (sed -e '[^']*')/m.exec(text) ?? []
    const { stdout } = await run('sh', [
      '-c',
      `${command.replace('URL OF YOUR HEARTBEAT SERVICE', 'https://heartbeat.example/1')} ${CONFIG}`,
    ])
    expect(configSchema.parse(parse(stdout)).receivers.find(({ name }) => name === 'dead-man')).toEqual({
      name: 'dead-man',
      webhook_configs: [{ url: 'https://heartbeat.example/1', send_resolved: false }],
    })
  })

  it('every alert in an inhibition rule exists', async () => {
    const { inhibit_rules: rules } = await readConfig()
    const named = rules
      .flatMap(({ source_matchers: source, target_matchers: target }) => [...source, ...target])
      .flatMap((matcher) => /^alertname(?:=~?|!=)"([^.]*)"$/.exec(matcher)?.[1]?.split('|') ?? [])
    const known = alerts.map(({ alert }) => alert)
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter((name) => !known.includes(name))).toEqual([])
  })

  it('every inhibition rule is for alerts of one instance, or of one fleet', async () => {
    const { inhibit_rules: rules } = await readConfig()
    const ofFleet = rules.filter(({ equal }) => !equal.includes('instance'))
    expect(new Set(ofFleet.map(({ source_matchers: [source] }) => source))).toEqual(
      new Set(['alertname="ChainAgentAbsent"', 'alertname="ChainNetworkHalted"']),
    )
    for (const { source_matchers: source, target_matchers: target, equal } of rules) {
      const first = ofFleet.some((rule) => rule.equal === equal) ? 'job' : 'instance'
      expect(source).toContain(`${first}!=""`)
      expect(target).toContain(`${first}!=""`)
      expect(equal).toEqual(expect.arrayContaining([first, 'job', 'cluster']))
    }
  })
})
