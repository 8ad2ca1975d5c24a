import {
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  openSync,
  readFileSync,
  statSync,
  type Stats,
} from 'node:fs'
import * as fs from 'node:fs/promises'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import pLimit, { type LimitFunction } from 'p-limit'
import { type Clock, endsWithin, systemClock } from './clock.ts'
import { errorCode, FileError, ifMissing } from './errors.ts'
import { size } from './format.ts'
import { renderDuration, second } from './units.ts'

/** Runs an operation on the file system. Throws its error, or a FileError if it is late. */
type FileGate = <T>(path: string, work: () => Promise<T>) => Promise<T>

/** The operations of one file system. */
interface Lane {
  readonly inTurn: LimitFunction
  /** Ends each operation that runs or waits with an error. */
  readonly failures: Set<() => void>
  isLate: boolean
}

/** The operations that run, with their start by the system clock. */
const running = new Set<{ readonly startedAt: number }>()
/** A disk that is busy answers sooner: the exit code of a command is then its own. */
const SLOW_MS = 2 * second

/** Whether an operation may hang: process.exit() waits for its thread. */
export const mayHang = (): boolean => [...running].some(({ startedAt }) => systemClock.elapsed() - startedAt > SLOW_MS)

/** The most file systems that may be late: half of the threads. */
const MAX_LATE = 2

/**
 * Node.js runs the operations of files, gzip and DNS in the same four threads. An operation on a file system whose server
 * or device is gone occupies a thread without end: a gate passes on one operation of each file system at a time. One that
 * takes `lateMs` fails, and with it those that wait. Until it ends, others of this file system fail at once, and while two
 * are late, all do.
 */
export const createFileGate = (lateMs: number, clock: Clock = systemClock, fileSystemOf = mountPointOf): FileGate => {
  const lanes = new Map<string, Lane>()
  const lateError = (path: string): FileError =>
    new FileError('ETIMEDOUT', path, `the file system has not answered within ${renderDuration(lateMs)}`)

  /** Runs the operation; if it is late, fails all of the lane, which ends with it. */
  const run = async <T>(fileSystem: string, lane: Lane, work: () => Promise<T>): Promise<T> => {
    const operation = { startedAt: systemClock.elapsed() }
    running.add(operation)
    const result = work().finally(() => running.delete(operation))
    // In two halves: after a pause of the process, a timer that is due runs before the result of an operation is seen.
    const isInTime = async () => endsWithin(clock, lateMs / 2, result)
    if ((await isInTime()) || (await isInTime())) return result
    lane.isLate = true
    for (const fail of lane.failures) fail()
    try {
      return await result
    } finally {
      lanes.delete(fileSystem)
    }
  }

  return async (path, work) => {
    if (isKernelFile(path)) return work()
    const fileSystem = fileSystemOf(path)
    const lane = lanes.get(fileSystem) ?? { inTurn: pLimit(1), failures: new Set(), isLate: false }
    lanes.set(fileSystem, lane)
    if (lane.isLate || [...lanes.values()].filter(({ isLate }) => isLate).length >= MAX_LATE) throw lateError(path)
    return new Promise((resolve, reject) => {
      const fail = (): void => {
        reject(lateError(path))
      }
      lane.failures.add(fail)
      const task = lane.inTurn(async () => {
        // Its caller has the error already.
        if (lane.isLate) throw lateError(path)
        return run(fileSystem, lane, work)
      })
      task.then(resolve, reject).finally(() => lane.failures.delete(fail))
    })
  }
}

/** The mounts are read again after this time. */
const MOUNTS_MS = 10 * second
let mounts: { readonly all: ReturnType<typeof readMounts>; readonly readAt: number } | undefined

/** The mount of a path, by its name: symbolic links are not followed, which would be an operation on the file system. */
const mountOf = (path: string) => {
  const now = systemClock.elapsed()
  if (mounts === undefined || now - mounts.readAt > MOUNTS_MS) mounts = { all: readMounts(), readAt: now }
  return mounts.all.find(({ point }) => path === point || point === '/' || path.startsWith(`${point}/`))
}

const mountPointOf = (path: string): string => mountOf(path)?.point ?? '/'

/** Whether a path, or the place where it is missing, is on a file system of this type, such as tmpfs. */
export const isOnFileSystem = (path: string, type: string): boolean => mountOf(path)?.type === type

/**
 * Longest first, and of several on one mount point the last one, which hides the others. Of mountinfo (proc(5)) the fifth
 * field, in which spaces are written in octal, and the first one after the separator.
 */
const readMounts = () => {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .flatMap((line) => {
        const [before = '', after = ''] = line.split(' - ')
        const [, , , , point] = before.split(' ')
        const [type = ''] = after.split(' ')
        return point === undefined ? [] : [{ point: withoutOctal(point), type }]
      })
      .toReversed()
      .toSorted((one, other) => other.point.length - one.point.length)
  } catch {
    return []
  }
}

const withoutOctal = (point: string): string =>
  point.replaceAll(/\\(\d{3})/g, (_, digits: string) => String.fromCodePoint(Number.parseInt(digits, 8)))

/** /proc and /sys do not wait for a device or a server. */
const isKernelFile = (path: string): boolean => path.startsWith('/proc/') || path.startsWith('/sys/')

/** For files that the agent only reads. */
export const atFile = createFileGate(5 * second)
/** For the files of the agent's state, which are one file system: a write may wait for a busy disk. */
export const atStateFile = createFileGate(30 * second)

const notRegular = (path: string): FileError => new FileError('EFTYPE', path, 'it is not a regular file')
/** Throws a FileError for a directory, a FIFO, a socket or a device. */
const checkRegular = (path: string, facts: Stats): void => {
  if (facts.isDirectory()) throw new FileError('EISDIR', path, 'it is a directory')
  if (!facts.isFile()) throw notRegular(path)
}
const tooLarge = (path: string, maxBytes: number): FileError =>
  new FileError('EFBIG', path, `it is larger than ${size(maxBytes)}`)

/**
 * Opens a regular file. Without O_NONBLOCK, a FIFO in its place would block a thread until a process opens the other end;
 * for a regular file it has no effect. Call it through a gate.
 */
export const openRegular = async (path: string, flags = constants.O_RDONLY, mode?: number): Promise<fs.FileHandle> => {
  const file = await fs.open(path, flags | constants.O_NONBLOCK, mode).catch((error: unknown) => {
    // open(2): a FIFO without a reader that is opened for writing, or a socket.
    throw errorCode(error) === 'ENXIO' && !isKernelFile(path) ? notRegular(path) : error
  })
  try {
    if (!isKernelFile(path)) checkRegular(path, await file.stat())
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Passes an open file to `work`, and closes it. */
export const withFile = async <T>(
  opening: fs.FileHandle | Promise<fs.FileHandle>,
  work: (file: fs.FileHandle) => Promise<T>,
): Promise<T> => {
  const file = await opening
  try {
    return await work(file)
  } finally {
    await file.close()
  }
}

/**
 * Files that the kernel writes from a few values in memory. To read one takes about 20 µs: a thread for each of its four
 * operations takes five times as much. Not in it: what waits for the memory of a process (cmdline) or for a device
 * (hwmon), and the lists of all sockets.
 */
const VALUES_IN_MEMORY =
  /^\/proc\/(?:stat|vmstat|pressure\/\w+|net\/(?:snmp|route)|sys\/.+|\d+\/limits)$|^\/sys\/(?:fs\/cgroup|devices\/system\/cpu)\/|^\/sys\/class\/net\/[^/]+\/statistics\//

/** Most kernel files are smaller than a page. */
const FIRST_BYTES = 4096

/** At most `maxBytes` bytes. Kernel files report no size and are read in parts. */
const readStart = async (path: string, maxBytes: number): Promise<Buffer> => {
  if (VALUES_IN_MEMORY.test(path)) return readFileSync(path).subarray(0, maxBytes)
  return withFile(openRegular(path), async (file) => {
    let buffer = Buffer.allocUnsafe(Math.min(FIRST_BYTES, maxBytes))
    let filled = 0
    while (filled < maxBytes) {
      if (filled === buffer.length) buffer = Buffer.concat([buffer], Math.min(2 * filled, maxBytes))
      const { bytesRead } = await file.read(buffer, filled, buffer.length - filled)
      if (bytesRead === 0) break
      filled += bytesRead
    }
    return buffer.subarray(0, filled)
  })
}

/** The first `maxBytes` bytes of a regular file as text. */
export const readBeginning = (path: string, maxBytes: number): Promise<string> =>
  atFile(path, async () => (await readStart(path, maxBytes)).toString('utf8'))

/** A regular file as a whole; a larger one is an error. */
const readBytes = (path: string, maxBytes: number, gate = atFile): Promise<Buffer> =>
  gate(path, async () => {
    const bytes = await readStart(path, maxBytes + 1)
    if (bytes.length > maxBytes) throw tooLarge(path, maxBytes)
    return bytes
  })

export const readText = async (path: string, maxBytes: number, gate = atFile): Promise<string> =>
  (await readBytes(path, maxBytes, gate)).toString('utf8')

/** What the shell passes for `<(command)`, and the names of standard input and of an empty file. */
const isStream = (path: string): boolean => /^\/(?:dev|proc\/self)\/fd\/\d+$|^\/dev\/(?:stdin|null)$/.test(path)

/** The same before anything is started, as for the configuration, which may come from a pipe of the shell. */
export const readTextSync = (path: string | URL, maxBytes: number): string => {
  const isOpened = isStream(String(path))
  const file = openSync(path, isOpened ? constants.O_RDONLY : constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const facts = fstatSync(file)
    if (!isOpened) checkRegular(String(path), facts)
    if (facts.size > maxBytes) throw tooLarge(String(path), maxBytes)
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

/**
 * A file that an operator names, also a FIFO: the event loop waits for its writer, where `createReadStream` blocks a
 * thread. The signal ends the stream with an error.
 */
export const openStream = (path: string, signal: AbortSignal, highWaterMark = 64 * 1024): Readable => {
  const stream = openFifo(path) ?? createReadStream(path, { highWaterMark })
  signal.addEventListener('abort', () => stream.destroy())
  return stream
}

/** Undefined for another file, and for one that cannot be opened: the stream reports the error. */
const openFifo = (path: string): Socket | undefined => {
  try {
    if (!statSync(path).isFIFO()) return undefined
    return new Socket({
      fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK),
      readable: true,
      writable: false,
    })
  } catch {
    return undefined
  }
}

/** Removes the socket that a process which was killed left behind, and no other file of that name. */
export const removeSocket = async (path: string): Promise<void> => {
  if ((await fs.lstat(path).catch(ifMissing(undefined)))?.isSocket()) await fs.rm(path, { force: true })
}
