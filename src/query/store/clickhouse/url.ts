import { ConfigError } from '../../../core/errors.ts'

/** Where a store in ClickHouse lies, as its URL tells. */
export interface Place {
  readonly secure: boolean
  /** Every server of the cluster, HOST:PORT. The first one is asked, and keeps the ledger. */
  readonly hosts: readonly [string, ...string[]]
  readonly user: string
  readonly database: string
  readonly cluster: string | null
  readonly replicated: boolean
  /** Blocks of a partition: what pruning gives back at once. Settled when the store is made. */
  readonly partition: number
}

const FORM = 'clickhouse://[USER@]HOST[:PORT][,HOST[:PORT]…]/[DATABASE][?cluster=NAME]'

/** A day of blocks at 400 ms is 216,000. */
const PARTITION = 250_000

/** Several hosts in one URL: the parser of Node knows but one. What is behind the hosts has no `@`: it would be the end of a password. */
const URL_FORM =
  /^clickhouse(?<tls>s?):\/\/(?:(?<user>[^@/?#]*)@)?(?<hosts>[^@/?#]+)(?:\/(?<database>[^@?#]*))?(?:\?(?<query>[^@#]*))?$/i
const NAME = /^[A-Za-z_][\w-]{0,63}$/

export const parsePlace = (text: string): Place => {
  const {
    tls,
    user = '',
    hosts = '',
    database = '',
    query = '',
  } = URL_FORM.exec(text)?.groups ?? {}
  if (tls === undefined) throw new ConfigError(`A store in ClickHouse is named as ${FORM}.`)
  if (user.includes(':'))
    throw new ConfigError('A password does not belong into the URL of a store: give it as a file.')
  const options = new URLSearchParams(query)
  for (const name of options.keys())
    if (!['cluster', 'replicated', 'partition'].includes(name))
      throw new ConfigError(`The URL of the store has an unknown option: ${JSON.stringify(name)}.`)
  const secure = tls !== ''
  const [first, ...others] = hosts.split(',').map((host) => withPort(host, secure ? 8443 : 8123))
  if (first === undefined) throw new ConfigError(`A store in ClickHouse is named as ${FORM}.`)
  const cluster = options.get('cluster')
  if (cluster === null && others.length > 0)
    throw new ConfigError('The URL of the store names several servers and no cluster.')
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
    // What a header cannot carry.
    if (/^[\x21-\x7e]+$/.test(user)) return user
  } catch {
    // As below.
  }
  throw new ConfigError(`The URL of the store has no name of a user: ${JSON.stringify(text)}.`)
}

const withPort = (host: string, port: number): string => {
  const full = /:\d{1,5}$/.test(host) ? host : `${host}:${port}`
  if (!URL.canParse(`http://${full}`))
    throw new ConfigError(`The URL of the store names no server: ${JSON.stringify(host)}.`)
  return full
}

const nameOf = (what: string, text: string): string => {
  if (NAME.test(text)) return text
  throw new ConfigError(`The URL of the store has no name of a ${what}: ${JSON.stringify(text)}.`)
}

const replicatedOf = (text: string | null, cluster: string | null): boolean => {
  if (text !== null && (text !== '1' || cluster === null))
    throw new ConfigError('replicated=1 goes with cluster=NAME in the URL of the store.')
  return text === '1'
}

const partitionOf = (text: string | null): number => {
  if (text === null) return PARTITION
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text)
  throw new ConfigError(`partition= is a number of blocks: ${JSON.stringify(text)}.`)
}
