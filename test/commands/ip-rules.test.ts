import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { renderIpRules } from '../../src/commands/config/action.ts'
import { readConfig } from '../../src/config/load.ts'
import { temporaryFolder } from '../support/directory.ts'
import { testUsageErrors } from '../support/usage-errors.ts'

const folder = await temporaryFolder()

const configOf = async (yaml: string) => {
  const file = join(folder, 'config.yaml')
  await writeFile(file, yaml)
  return readConfig(file, { env: {}, flags: [] }).config
}

test('the rules have every host of the configuration, name servers and clients', async () => {
  const heartbeat = join(folder, 'heartbeat')
  await writeFile(heartbeat, 'https://beat.example.org/secret-token\n')
  const config = await configOf(`
    rpc: { url: 'http://[fd00::7]:8080' }
    native: { fallbackUrl: 'http://198.51.100.8:8889' }
    traffic: { url: 'http://198.51.100.10:8889' }
    references:
      - { name: a, url: 'https://a.example.org/key' }
      - { name: b, url: 'https://198.51.100.9' }
    heartbeat: { urlFile: ${heartbeat} }
  `)
  const rules = await renderIpRules(config, ['10.0.0.0/24'], {
    resolve: (host) => Promise.resolve(host.startsWith('a.') ? ['192.0.2.1', '2001:db8::1'] : ['192.0.2.2']),
    nameServers: ['127.0.0.53', '192.0.2.53:5353', '[2001:db8::53]:53'],
  })
  expect(rules).toBe(`[Service]
IPAddressDeny=any
# this host
IPAddressAllow=localhost
# name servers
IPAddressAllow=127.0.0.53
IPAddressAllow=192.0.2.53
IPAddressAllow=2001:db8::53
# clients
IPAddressAllow=10.0.0.0/24
# rpc.url: fd00::7
IPAddressAllow=fd00::7
# native.fallbackUrl: 198.51.100.8
IPAddressAllow=198.51.100.8
# traffic.url: 198.51.100.10
IPAddressAllow=198.51.100.10
# references.a: a.example.org
IPAddressAllow=192.0.2.1
IPAddressAllow=2001:db8::1
# references.b: 198.51.100.9
IPAddressAllow=198.51.100.9
# heartbeat.urlFile: beat.example.org
IPAddressAllow=192.0.2.2`)
})

test('a name that cannot be resolved is an error without rules', async () => {
  const config = await configOf("rpc: { url: 'http://node.example.org' }")
  const resolve = () => Promise.reject(new Error('ENOTFOUND'))
  await expect(renderIpRules(config, [], { resolve })).rejects.toThrow(
    'Could not resolve node.example.org, the host of rpc.url: ENOTFOUND',
  )
})

test('a heartbeat file without a URL is an error without its content', async () => {
  const heartbeat = join(folder, 'heartbeat')
  await writeFile(heartbeat, 'secret words')
  const config = await configOf(`heartbeat: { urlFile: ${heartbeat} }`)
  const failure = renderIpRules(config, [])
  await expect(failure).rejects.toThrow('heartbeat.urlFile: the content is not a URL')
  await expect(failure).rejects.not.toThrow('secret')
})

testUsageErrors(
  ['config'],
  [
    [['--ip-rules', '--listen', ':9843'], 'name with --client who may connect'],
    [['--ip-rules', '--client', '10.0.0.5/33'], '--client 10.0.0.5/33: expected an address or a network'],
    [['--ip-rules', '--client', 'prometheus'], '--client prometheus: expected an address or a network'],
    [['--client', '10.0.0.5'], '--client is for --ip-rules'],
  ],
)
