import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/core/clock.ts'
import { Secret } from '../../src/core/redaction/secret.ts'
import { openClickHouseStore } from '../../query/store/clickhouse/store.ts'
import type { LogStore, WantedIdentity } from '../../query/store/store.ts'
import { debianPackage, packagedVersion } from './debian.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'
import { must, start, type Running } from './programs.ts'
import { type Probe, requireRealPart } from './real-parts.ts'

const PACKAGE = 'clickhouse-server'
const CLUSTER = 'loopback'
const USER = 'chain'
const PASSWORD = 'of-the-test'

export const probeClickHouse = async (): Promise<Probe> => {
  await unpacked()
  return { version: await packagedVersion(await debianPackage(PACKAGE), PACKAGE) }
}

export const requireClickHouse = async () => requireRealPart('ClickHouse', probeClickHouse)

/** The server, and where the libraries are that this machine lacks. */
const unpacked = async () => {
  const root = await debianPackage(PACKAGE)
  const missing = (await must('apt-get', ['-qs', '--no-install-recommends', 'install', PACKAGE]))
    .split('\n')
    .flatMap((line) => /^Inst (\S+)/.exec(line)?.[1] ?? [])
  const places = await Promise.all(missing.map(debianPackage))
  const folders = await Promise.all(
    places
      .flatMap((place) => [join(place, 'usr/lib'), join(place, 'lib')])
      .map(async (lib) => (await readdir(lib).catch(() => [])).map((name) => join(lib, name))),
  )
  const env = { LD_LIBRARY_PATH: folders.flat().join(':') }
  return { program: join(root, 'usr/sbin', PACKAGE), env }
}

/** Something that answers statements as ClickHouse does. */
export interface Answering {
  /** Without the password. */
  readonly url: string
  readonly password: Secret
  /** HOST:PORT of each server, for HTTP. */
  readonly addresses: readonly string[]
  /** What a server answers; throws where it refuses. */
  ask(statement: string, server?: number): Promise<string>
  /** Removes every trace. */
  stop(): Promise<void>
}

export interface ClickHouse extends Answering {
  /** kill -9. */
  kill(server: number): Promise<void>
  /** The same server again, with what it had on its disk. */
  revive(server: number): Promise<void>
}

/** Real servers on the loopback; more than one are the shards of a cluster. */
export const startClickHouse = async (servers = 1): Promise<ClickHouse> => {
  const { program, env } = await unpacked()
  // A name that the sweep before and after the suites knows.
  const directory = await mkdtemp(join(tmpdir(), `chain-sandbox-${process.pid}-clickhouse-`))
  const ports = await Promise.all(
    Array.from({ length: servers }, async () => ({
      http: await freePort(),
      tcp: await freePort(),
    })),
  )
  const running: (Running | undefined)[] = []
  const addresses = ports.map(({ http }) => `127.0.0.1:${http}`)
  const ask: ClickHouse['ask'] = async (statement, server = 0) => {
    const response = await fetch(`http://${addresses[server]}/`, {
      method: 'POST',
      body: statement,
      headers: { 'x-clickhouse-user': USER, 'x-clickhouse-key': PASSWORD },
    })
    const text = await response.text()
    if (!response.ok) throw new Error(text)
    return text.trimEnd()
  }
  const revive = async (server: number): Promise<void> => {
    const config = join(directory, `${server}`, 'config.xml')
    // It ends with us, however we end.
    const child = start('setpriv', ['--pdeathsig=KILL', program, `--config-file=${config}`], {
      env,
    })
    running[server] = child
    await eventually(async () => ask('SELECT 1', server), '1').catch((error: unknown) => {
      throw new Error(child.output(), { cause: error })
    })
  }
  const kill = async (server: number): Promise<void> => {
    await running[server]?.stop('SIGKILL')
    running[server] = undefined
  }
  const stop = async (): Promise<void> => {
    await Promise.all(running.map(async (_, server) => kill(server)))
    await rm(directory, { recursive: true, force: true })
  }
  try {
    for (const [server, own] of ports.entries()) {
      const home = join(directory, `${server}`)
      await mkdir(home)
      await writeFile(join(home, 'users.xml'), USERS)
      const shards = ports.map(({ tcp }) => shard(tcp)).join('')
      await writeFile(join(home, 'config.xml'), configOf({ home, ...own, shards }))
    }
    await Promise.all(ports.map(async (_, server) => revive(server)))
  } catch (error) {
    await stop()
    throw error
  }
  const query = servers > 1 ? `?cluster=${CLUSTER}` : ''
  return {
    url: `clickhouse://${USER}@${addresses.join(',')}/default${query}`,
    password: new Secret(PASSWORD),
    addresses,
    ask,
    kill,
    revive,
    stop,
  }
}

const USERS = `<yandex>
  <profiles><default/></profiles>
  <quotas><default/></quotas>
  <users><${USER}>
    <password>${PASSWORD}</password>
    <networks><ip>127.0.0.1</ip></networks>
    <profile>default</profile>
    <quota>default</quota>
  </${USER}></users>
</yandex>
`

const shard = (port: number): string =>
  `<shard><replica><host>127.0.0.1</host><port>${port}</port>` +
  `<user>${USER}</user><password>${PASSWORD}</password></replica></shard>`

interface Server {
  readonly home: string
  readonly http: number
  readonly tcp: number
  readonly shards: string
}

const configOf = ({ home, http, tcp, shards }: Server): string => `<yandex>
  <logger><level>warning</level><console>1</console></logger>
  <listen_host>127.0.0.1</listen_host>
  <http_port>${http}</http_port>
  <tcp_port>${tcp}</tcp_port>
  <path>${home}/data/</path>
  <tmp_path>${home}/data/tmp/</tmp_path>
  <users_config>users.xml</users_config>
  <default_profile>default</default_profile>
  <default_database>default</default_database>
  <mark_cache_size>67108864</mark_cache_size>
  <remote_servers><${CLUSTER}>${shards}</${CLUSTER}></remote_servers>
</yandex>
`

/** A database of its own on every server. */
export interface ClickHousePlace {
  readonly url: string
  open(identity: WantedIdentity): Promise<LogStore>
  remove(): Promise<void>
}

let count = 0

/** Partitions of few blocks, so that pruning has some to drop. */
export const clickHousePlace = async (servers: Answering, partition = 10): Promise<ClickHousePlace> => {
  count += 1
  const name = `place_${count}`
  const everywhere = async (statement: string): Promise<void> => {
    for (const index of servers.addresses.keys()) await servers.ask(statement, index)
  }
  await everywhere(`CREATE DATABASE ${name}`)
  const separator = servers.url.includes('?') ? '&' : '?'
  const url = `${servers.url.replace('/default', `/${name}`)}${separator}partition=${partition}`
  return {
    url,
    open: async (identity) => openClickHouseStore(url, { identity, clock: systemClock, password: servers.password }),
    remove: async () => everywhere(`DROP DATABASE ${name}`),
  }
}
