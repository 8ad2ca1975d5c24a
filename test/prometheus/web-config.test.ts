import { cp, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hashSync } from 'bcryptjs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { createWebConfigFile } from '../../src/config/web-config.ts'
import { askServer, type Certificate, makeCertificate, makeCertificateOf } from '../support/certificates.ts'
import { temporaryFolder } from '../support/directory.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { must, run, type Running, start } from '../support/programs.ts'
import { checkWebConfig, requirePrometheus, type Prometheus, startPrometheus } from '../support/prometheus.ts'

const describe = await requirePrometheus()
const directory = await temporaryFolder()
const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const EXAMPLE = fileURLToPath(new URL('../../deploy/web-config.example.yml', import.meta.url))

describe('a real Prometheus and a web configuration file', () => {
  const file = join(directory, 'web.yml')
  const config = join(directory, 'config.yaml')
  let port = 0
  let authority: Certificate
  let server: Certificate
  let client: Certificate
  let agent: Running
  let prometheus: Prometheus

  const tls = (clientAuth = {}) => ({ cert_file: 'server.crt', key_file: 'server.key', ...clientAuth })
  const mutual = { client_auth_type: 'RequireAndVerifyClientCert', client_ca_file: 'authority.crt' }
  // Cost 5: quick, and slower than nothing.
  const users = (password: string) => ({ basic_auth_users: { prometheus: hashSync(password, 5) } })
  const write = async (content: object) => {
    await writeFile(`${file}.new`, stringify(content))
    await rename(`${file}.new`, file)
  }
  const job = (name: string, more: object, host = '127.0.0.1') => ({
    job_name: name,
    scheme: 'https',
    static_configs: [{ targets: [`${host}:${port}`] }],
    tls_config: { ca_file: authority.cert, server_name: 'localhost' },
    ...more,
  })
  const ups = async (): Promise<Readonly<Record<string, number>>> =>
    Object.fromEntries((await prometheus.query('up')).map(({ labels, value }) => [labels['job'] ?? '', value]))
  const seen = (expected: Readonly<Record<string, number>>) =>
    eventually(ups, (now) => Object.entries(expected).every(([name, value]) => now[name] === value))

  beforeAll(async () => {
    port = await freePort()
    authority = await makeCertificate(directory, 'authority')
    server = await makeCertificate(directory, 'server', authority)
    client = await makeCertificate(directory, 'client', authority)
    await write({ tls_server_config: tls(mutual) })
    await writeFile(
      config,
      stringify({
        listen: `127.0.0.1:${port}`,
        state: { directory: join(directory, 'state') },
        web: { configFile: file, hosts: [] },
      }),
    )
    agent = start(process.execPath, [MAIN, 'run', '--config', config])
    const certificate = {
      tls_config: { ca_file: authority.cert, cert_file: client.cert, key_file: client.key, server_name: 'localhost' },
    }
    prometheus = await startPrometheus(
      [],
      [
        job('with a certificate', certificate),
        job('without a certificate', {}),
        job('plain', { scheme: 'http', tls_config: {} }),
        job('with a password', { basic_auth: { username: 'prometheus', password: 'first' } }),
        job('with the next password', { basic_auth: { username: 'prometheus', password: 'second' } }),
        job('by name', certificate, 'localhost'),
      ],
    )
  })
  afterAll(async () => {
    await prometheus.stop()
    await agent.stop()
  })

  it('promtool accepts the example, and so does the agent', async () => {
    await cp(EXAMPLE, join(directory, 'example.yml'))
    for (const [name, from] of [
      ['node.crt', server.cert],
      ['node.key', server.key],
      ['prometheus-ca.crt', authority.cert],
    ] as const)
      await cp(from, join(directory, name))
    const example = join(directory, 'example.yml')
    const text = await readFile(example, 'utf8')
    // And with everything that is commented out.
    for (const content of [text, text.replaceAll(/^# ?(?=[ a-z]+_|  )/gm, '')]) {
      await writeFile(example, content)
      expect(await checkWebConfig(example)).toBe('')
      expect((await createWebConfigFile(example).load()).tls?.clientAuth).toBe('RequireAndVerifyClientCert')
    }
    expect((await createWebConfigFile(example).load()).users.size).toBe(1)
  })

  it('scrapes with a certificate of the authority, and not without', async () => {
    await seen({ 'with a certificate': 1, 'by name': 1, 'without a certificate': 0, plain: 0, 'with a password': 0 })
    expect((await prometheus.query('chain_agent_build_info{job="with a certificate"}')).length).toBe(1)
  })

  it('a renewed certificate is used without a restart', async () => {
    const serial = async () => (await askServer({ protocol: 'https:', port, path: '/-/healthy' })).serial
    const daysLeft = () =>
      prometheus.query(
        'round((chain_agent_certificate_expiry_timestamp_seconds{endpoint="listener",job="with a certificate"} - time()) / 86400)',
      )
    const before = await serial()
    expect(await daysLeft()).toMatchObject([{ value: 2 }])
    await makeCertificateOf({ directory, name: 'server', issuer: authority, days: 90 })
    expect(await eventually(serial, (now) => now !== before)).toBeDefined()
    await seen({ 'with a certificate': 1 })
    expect(await eventually(daysLeft, ([left]) => left?.value !== 2)).toMatchObject([{ value: 90 }])
  })

  it('passwords instead of certificates, and other passwords, are used without a restart', async () => {
    await write({ tls_server_config: tls(), ...users('first') })
    await seen({ 'with a password': 1, 'with the next password': 0, 'with a certificate': 0 })
    await write({ tls_server_config: tls(), ...users('second') })
    expect(await seen({ 'with a password': 0, 'with the next password': 1 })).toMatchObject({ 'with a certificate': 0 })
  })

  it('commands on this host read from the agent, without a password', async () => {
    const status = await run(process.execPath, [MAIN, 'status', 'agent', '--config', config])
    expect(status.stderr).toBe('')
    expect(status.stdout).toContain(`From the agent at 127.0.0.1:${port}`)
    expect(await must(process.execPath, [MAIN, 'events', '--config', config])).toContain('from the running agent')
    const check = await run(process.execPath, [MAIN, 'check', '--config', config])
    expect(check.stdout).not.toContain('no agent watches this node')
    // Without the file they do not know of the socket: they say what is missing, and read the node.
    const without = await run(process.execPath, [MAIN, 'status', 'agent', '--listen', `127.0.0.1:${port}`], {
      env: { CHAIN_AGENT_CONFIG: '/dev/null' },
    })
    expect(without.stderr).toMatch(
      /--web\.config\.file: commands then use its socket\nReading from the node instead\.$/,
    )
  })

  it('a file that is not valid changes nothing, is logged once, and is visible in a metric', async () => {
    const reload = async () =>
      (await prometheus.query('chain_agent_config_last_reload_successful{job="with the next password"}'))[0]?.value
    // A scrape that took longer than a second on a busy machine ends the series until the next one.
    await eventually(reload, (value) => value === 1)
    await write({ tls_server_config: tls(), basic_auth_users: { prometheus: 'SECRET' } })
    await eventually(reload, (value) => value === 0)
    await seen({ 'with the next password': 1 })
    // A second file that is not valid is another error.
    await write({ tls_server_config: { cert_file: 'server.crt', key_file: 'client.key' } })
    await eventually(
      () => agent.output(),
      (output) => output.includes('this is the key of another one'),
    )
    const [first, ...more] = agent
      .output()
      .split('\n')
      .filter((line) => line.includes('basic_auth_users.prometheus'))
    expect(first).toMatch(/web\.yml:5: basic_auth_users\.prometheus: expected a bcrypt hash/)
    expect(more).toEqual([])
    expect(agent.output()).not.toContain('SECRET')
    await write({ tls_server_config: tls(), ...users('second') })
    await eventually(reload, (value) => value === 1)
  })
})
