import { ConfigError } from '../../../src/core/errors.ts'

/** The location of a store in ClickHouse, parsed from its URL. */
export interface ClickHouseLocation {
  readonly secure: boolean
  /** All servers of the cluster as HOST:PORT. The first one receives the queries and has the ledger. */
  readonly hosts: readonly [string, ...string[]]
  readonly user: string
  readonly database: string
  readonly cluster: string | null
  readonly replicated: boolean
  /** Blocks per partition, the unit of pruning. Fixed when the store is created. */
  readonly partition: number
}

const FORM = 'clickhouse://[USER@]HOST[:PORT][,HOST[:PORT]…]/[DATABASE][?cluster=NAME]'

/** In blocks, about a day: 288,000 with a block every 300 ms (MIP-12, mainnet since 23 July 2026), 216,000 with 400 ms. */
const PARTITION = 250_000

/**
 * The URL may name several hosts, which the URL parser of Node does not support. The part after the hosts must not
 * contain `@`, since it would be the end of a password.
 */
const URL_FORM =
  /^clickhouse(?<tls>s?):\/\/(?:(?<user>[^@/?#]*)@)?(?<hosts>[^@/?#]+)(?:\/(?<database>[^@?#]*))?(?:\?(?<query>[^@#]*))?$/i
const NAME = /^[A-Za-z_][\w-]{0,63}$/

export const parseClickHouseUrl = (text: string): ClickHouseLocation => {
  const { tls, user = '', hosts = '', database = '', query = '' } = URL_FORM.exec(text)?.groups ?? {}
  if (tls === undefined) throw new ConfigError(`A ClickHouse store must have the form ${FORM}.`)
  if (user.includes(':'))
    throw new ConfigError('The URL of the store must not contain a password: use a password file.')
  const options = new URLSearchParams(query)
  for (const name of options.keys())
    if (!['cluster', 'replicated', 'partition'].includes(name))
      throw new ConfigError(`The URL of the store has an unknown option: ${JSON.stringify(name)}.`)
  const secure = tls !== ''
  const [first, ...others] = hosts.split(',').map((host) => withPort(host, secure ? 8443 : 8123))
  if (first === undefined) throw new ConfigError(`A ClickHouse store must have the form ${FORM}.`)
  const cluster = options.get('cluster')
  if (cluster === null && others.length > 0)
    throw new ConfigError('The URL of the store names several servers, but no cluster.')
  return {
    secure,
    hosts: [first, ...others],
    user: userOf(user),
    database: nameOf('database', database === '' ? 'default' : database),
    cluster: cluster === null ? null : nameOf('cluster', cluster),
    replicated: replicatedOf(options.get('replicated'), cluster),
    partition: partitionOf(options.get('partition')),
  }
}

const userOf = (text: string): string => {
  if (text === '') return 'default'
  try {
    const user = decodeURIComponent(text)
    // The user is sent with HTTP basic authentication, where a colon ends the name.
    if (/^[\x21-\x39\x3b-\x7e]+$/.test(user)) return user
  } catch {
    // Reported below.
  }
  throw new ConfigError(`The URL of the store has an invalid user name: ${JSON.stringify(text)}.`)
}

const withPort = (host: string, port: number): string => {
  const full = /:\d{1,5}$/.test(host) ? host : `${host}:${port}`
  if (!URL.canParse(`http://${full}`))
    throw new ConfigError(`The URL of the store has an invalid server: ${JSON.stringify(host)}.`)
  return full
}

const nameOf = (what: string, text: string): string => {
  if (NAME.test(text)) return text
  throw new ConfigError(`The URL of the store has an invalid ${what} name: ${JSON.stringify(text)}.`)
}

const replicatedOf = (text: string | null, cluster: string | null): boolean => {
  if (text !== null && (text !== '1' || cluster === null))
    throw new ConfigError('replicated must be 1 and requires cluster=NAME in the URL of the store.')
  return text === '1'
}

const partitionOf = (text: string | null): number => {
  if (text === null) return PARTITION
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text)
  throw new ConfigError(`partition must be a number of blocks: ${JSON.stringify(text)}.`)
}
