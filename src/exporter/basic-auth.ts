import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import pLimit from 'p-limit'
import { packageFile } from '../core/package.ts'

/** `busy`: too many passwords are being compared; the client may repeat the request. */
export type Login = 'accepted' | 'rejected' | 'busy'

/** Whether the password matches the bcrypt hash. */
type ComparePassword = (password: string, hash: string) => Promise<boolean>

/** Clients that may wait for the comparison in progress. A comparison at cost 10 takes about 0.1 s. */
const MAX_WAITING = 8

/**
 * Checks the `Authorization` header of requests. One password is compared at a time, in a thread of its own: clients
 * with a wrong password cannot use more than one CPU, and do not delay other requests. One of each client waits, so that a
 * flood of one address keeps no other out. Whether the user exists has no influence on it. The last accepted password of a
 * user is remembered as a keyed digest for as long as the users are the same, so that a scrape is answered at once even
 * while others try passwords. (A time limit would add nothing: the hash that it was compared with is the same.) `users`: bcrypt
 * hashes by user name.
 */
export const createBasicAuth = (users: ReadonlyMap<string, string>, compare: ComparePassword = compareInWorker) => {
  const key = randomBytes(32)
  const digestOf = (text: string): Buffer => createHmac('sha256', key).update(text).digest()
  const accepted = new Map<string, Buffer>()
  /** Comparisons in progress, by the digest of the credentials: equal ones share the result. */
  const pending = new Map<string, Promise<boolean>>()
  const inTurn = pLimit(1)
  /** The clients of which a comparison waits. */
  const waiting = new Set<string>()
  // Compared for unknown users too, so that the duration does not reveal which users exist.
  const [costliest = ''] = [...users.values()].toSorted((a, b) => costOf(b) - costOf(a))

  const login = async ([name, password]: Credentials, client: string): Promise<Login> => {
    const hash = users.get(name)
    const digest = digestOf(`${name}:${password}`)
    const known = accepted.get(name)
    if (known && timingSafeEqual(known, digest)) return 'accepted'
    const id = digest.toString('base64')
    let comparison = pending.get(id)
    if (!comparison) {
      if (waiting.has(client) || waiting.size >= MAX_WAITING) return 'busy'
      waiting.add(client)
      comparison = inTurn(() => {
        waiting.delete(client)
        return compare(password, hash ?? costliest)
      }).finally(() => pending.delete(id))
      pending.set(id, comparison)
    }
    if (!(await comparison) || hash === undefined) return 'rejected'
    accepted.set(name, digest)
    return 'accepted'
  }

  return {
    /** `client`: its address. `undefined` if requests need no password. Rejects if the thread fails. */
    check: (authorization: string | undefined, client: string): Promise<Login> | undefined => {
      if (users.size === 0) return undefined
      const credentials = credentialsOf(authorization)
      return credentials ? login(credentials, client) : Promise.resolve('rejected')
    },
  }
}

const costOf = (hash: string): number => Number(hash.slice(4, 6))

type Credentials = readonly [name: string, password: string]

const credentialsOf = (authorization = ''): Credentials | undefined => {
  const encoded = /^Basic +([A-Za-z0-9+/=_-]+) *$/i.exec(authorization)?.[1]
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  return colon === -1 ? undefined : [text.slice(0, colon), text.slice(colon + 1)]
}

const compareInWorker: ComparePassword = (password, hash) =>
  new Promise((resolve, reject) => {
    // A file of its own in the bundle.
    const worker = new Worker(packageFile('dist/bcrypt-worker.js'), {
      workerData: `${hash}${password}`,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 16 },
    })
    // The agent may stop meanwhile.
    worker.unref()
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => {
      reject(new Error('the thread that compares passwords ended without a result'))
    })
  })
