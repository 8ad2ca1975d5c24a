import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { packageFile } from '../core/package.ts'

/** `busy`: too many passwords are being compared; the client may repeat the request. */
export type Login = 'accepted' | 'rejected' | 'busy'

/** Whether the password matches the bcrypt hash. */
type ComparePassword = (password: string, hash: string) => Promise<boolean>

/** Comparisons that may wait for the one in progress. A comparison at cost 10 takes about 0.1 s. */
const MAX_WAITING = 8

/** One 32-bit number for each entry: 512 KiB. */
const SEEN_ENTRIES = 2 ** 17
const MAX_SEEN = 255

/**
 * How often credentials were presented without a comparison, by their digest: a client with a right password repeats it,
 * and one that guesses does not. An entry has 24 bits of the digest and a count. Others with the same entry decrease the
 * count before they replace it, so that a flood of guesses does not remove credentials that are repeated.
 */
const createSeen = () => {
  const entries = new Uint32Array(SEEN_ENTRIES)
  const indexOf = (digest: Buffer): number => digest.readUInt32LE(0) % SEEN_ENTRIES
  const markOf = (digest: Buffer): number => digest.readUIntLE(4, 3) * (MAX_SEEN + 1)
  const countOf = (digest: Buffer): number => {
    const entry = entries[indexOf(digest)] ?? 0
    const count = entry % (MAX_SEEN + 1)
    return entry - count === markOf(digest) ? count : 0
  }
  return {
    /** How often they were presented, this time included. */
    add: (digest: Buffer): number => {
      const index = indexOf(digest)
      const entry = entries[index] ?? 0
      const count = countOf(digest)
      if (count === 0 && entry % (MAX_SEEN + 1) > 1) entries[index] = entry - 1
      else entries[index] = markOf(digest) + Math.min(count + 1, MAX_SEEN)
      return count + 1
    },
    /** To be called after their comparison: guesses do not get a turn by being repeated. */
    remove: (digest: Buffer): void => {
      if (countOf(digest) > 0) entries[indexOf(digest)] = 0
    },
  }
}

/**
 * Checks the `Authorization` header of requests. One password is compared at a time, in a thread of its own: clients
 * with a wrong password cannot use more than one CPU, and do not delay other requests. The queue is fair by client, and
 * for each client prefers the credentials that were presented most often: a scraper with the address of a flood is
 * served when it repeats its request. Whether the user exists has no influence on it. The last accepted password of a
 * user is remembered as a keyed digest for as long as the users are the same, so that a scrape is answered at once even
 * while others try passwords. (A time limit would add nothing: the hash that it was compared with is the same.) `users`: bcrypt
 * hashes by user name.
 */
export const createBasicAuth = (users: ReadonlyMap<string, string>, compare: ComparePassword = compareInWorker) => {
  const key = randomBytes(32)
  const digestOf = (text: string): Buffer => createHmac('sha256', key).update(text).digest()
  const accepted = new Map<string, Buffer>()
  /** Comparisons in progress, by the digest of the credentials: equal ones share the result. */
  const pending = new Map<string, Promise<boolean | undefined>>()
  const queue = createFairQueue(MAX_WAITING)
  const seen = createSeen()
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
      comparison = queue({ client, weight: seen.add(digest) }, async () => {
        seen.remove(digest)
        return compare(password, hash ?? costliest)
      }).finally(() => pending.delete(id))
      pending.set(id, comparison)
    }
    const isRight = await comparison
    if (isRight === undefined) return 'busy'
    if (!isRight || hash === undefined) return 'rejected'
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

interface Task {
  readonly client: string
  /** Among the tasks of one client, and of clients with one task each, those with more are done first. */
  readonly weight: number
}

interface Waiting extends Task {
  readonly start: () => Promise<void>
  readonly leave: () => void
}

/**
 * Does one task at a time, in turn by client. A task for which a full queue has no room leaves it without a result: that
 * of the client with the most waiting tasks, of these one with the least weight, of these the newest.
 */
const createFairQueue = (most: number) => {
  /** By client, in the order of their turns. None is empty. */
  const waiting = new Map<string, readonly Waiting[]>()
  let isRunning = false

  const remove = (task: Waiting): void => {
    const rest = waiting.get(task.client)?.filter((other) => other !== task) ?? []
    if (rest.length === 0) waiting.delete(task.client)
    else waiting.set(task.client, rest)
  }

  const startNext = async (): Promise<void> => {
    isRunning = true
    for (let [tasks] = waiting.values(); tasks; [tasks] = waiting.values()) {
      const next = tasks.reduce((best, task) => (task.weight > best.weight ? task : best))
      remove(next)
      const rest = waiting.get(next.client)
      if (rest) {
        waiting.delete(next.client)
        waiting.set(next.client, rest)
      }
      await next.start()
    }
    isRunning = false
  }

  const makeRoom = (): void => {
    const lists = [...waiting.values()]
    if (lists.flat().length <= most) return
    const longest = Math.max(...lists.map((tasks) => tasks.length))
    const candidates = lists.filter((tasks) => tasks.length === longest).flat()
    const leaving = candidates.reduce((least, task) => (task.weight <= least.weight ? task : least))
    remove(leaving)
    leaving.leave()
  }

  /** The result of the work; undefined if there was no room. */
  return <T>({ client, weight }: Task, work: () => Promise<T>): Promise<T | undefined> =>
    new Promise((resolve, reject) => {
      const start = (): Promise<void> => work().then(resolve, reject)
      const leave = (): void => {
        resolve(undefined)
      }
      waiting.set(client, [...(waiting.get(client) ?? []), { client, weight, start, leave }])
      if (isRunning) makeRoom()
      else void startNext()
    })
}
