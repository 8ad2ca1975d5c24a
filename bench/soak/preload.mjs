// Loaded with --import into a process that `npm run bench:soak` measures. It changes two things of the process:
//   SOAK_SPEED, SOAK_EPOCH   its clock runs that many times as fast from that time on: Date, performance.now, timers
//   SOAK_SOCKET              a Unix socket that returns the figures of the process as one line of JSON
import { readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { createServer } from 'node:net'
import { queryObjects } from 'node:v8'
import { isMainThread } from 'node:worker_threads'

const { SOAK_SPEED = '1', SOAK_EPOCH = '0', SOAK_SOCKET } = process.env
const speed = Number(SOAK_SPEED)
const require = createRequire(import.meta.url)

const accelerate = (epoch) => {
  const RealDate = Date
  const now = () => Math.floor(epoch + (RealDate.now() - epoch) * speed)
  globalThis.Date = class extends RealDate {
    constructor(...parts) {
      if (parts.length === 0) super(now())
      else super(...parts)
    }
    static now() {
      return now()
    }
  }
  const elapsed = performance.now.bind(performance)
  Object.defineProperty(performance, 'now', { value: () => elapsed() * speed })
  const [timers, promises] = [require('node:timers'), require('node:timers/promises')]
  for (const name of ['setTimeout', 'setInterval']) {
    const real = globalThis[name]
    const scaled = (callback, ms = 1, ...rest) => real(callback, ms / speed, ...rest)
    // util.promisify(setTimeout) has its own implementation.
    for (const symbol of Object.getOwnPropertySymbols(real)) {
      Object.defineProperty(scaled, symbol, Object.getOwnPropertyDescriptor(real, symbol))
    }
    globalThis[name] = scaled
    timers[name] = scaled
    const realPromise = promises[name]
    promises[name] = (ms = 1, ...rest) => realPromise(ms / speed, ...rest)
  }
  syncBuiltinESMExports()
}

const countBy = (names) => {
  const counts = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

/** /proc/self/fd, by kind: socket, pipe, anon_inode, file. */
const descriptors = () =>
  countBy(
    readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        const target = readlinkSync(`/proc/self/fd/${fd}`)
        return [/^(socket|pipe|anon_inode):/.exec(target)?.[1] ?? 'file']
      } catch {
        // Closed in the meantime, such as that of the directory.
        return []
      }
    }),
  )

const children = () =>
  readdirSync('/proc/self/task').flatMap((task) => {
    try {
      return readFileSync(`/proc/self/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean)
    } catch {
      return []
    }
  }).length

const mapped = () => {
  const text = readFileSync('/proc/self/smaps_rollup', 'utf8')
  const kib = (name) => Number(new RegExp(`^${name}: +(\\d+)`, 'm').exec(text)?.[1])
  return { rss: kib('Rss') * 1024, anonymous: kib('Anonymous') * 1024 }
}

/** The class of the listeners of an EventTarget, which Node.js does not export. */
const listenerClass = () => {
  const target = new EventTarget()
  target.addEventListener('x', () => undefined)
  const events = Object.getOwnPropertySymbols(target).find(({ description }) => description === 'kEvents')
  return target[events]?.get('x')?.next?.constructor
}

/** Objects on the heap, also those that no list of Node.js contains. Each count takes a tenth of a second of CPU time. */
const objects = () => {
  const timer = setTimeout(() => undefined)
  clearTimeout(timer)
  const count = (kind) => (kind === undefined ? undefined : queryObjects(kind, { format: 'count' }))
  return {
    timers: count(timer.constructor),
    signals: count(AbortSignal),
    listeners: count(listenerClass()),
    emitters: count(require('node:events')),
    promises: count(Promise),
  }
}

/** `how` is read, collect (garbage, first) or count (objects, too). */
const figures = (how) => {
  const { heapUsed, external } = process.memoryUsage()
  const before = { ...mapped(), heapUsed }
  const resources = countBy(process.getActiveResourcesInfo())
  const open = { descriptors: descriptors(), children: children(), resources, cpu: process.cpuUsage() }
  if (how === 'read') return { before, external, ...open }
  const counted = how === 'count' ? { objects: objects() } : {}
  globalThis.gc()
  const after = { ...mapped(), heapUsed: process.memoryUsage().heapUsed }
  return { before, external, ...open, ...counted, after }
}

if (speed !== 1) accelerate(Number(SOAK_EPOCH))
if (SOAK_SOCKET !== undefined && isMainThread) {
  rmSync(SOAK_SOCKET, { force: true })
  createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', (line) => socket.end(`${JSON.stringify(figures(String(line).trim()))}\n`))
  })
    .listen(SOAK_SOCKET)
    .unref()
}
