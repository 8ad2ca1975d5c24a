import { once } from 'node:events'
import { mkdir, readdir, rename, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createWebConfigFile } from '../../src/config/web-config.ts'
import { readText as readConfigText } from '../../src/config/file.ts'
import { describeFileError } from '../../src/core/errors.ts'
import {
  createFileGate,
  openStream,
  readBeginning,
  readText,
  readTextSync,
  removeSocket,
} from '../../src/core/files.ts'
import { createCheckpoints } from '../../src/sources/checkpoint.ts'
import { readSecretFile, readSecretLines } from '../../src/sources/credential-file.ts'
import { openPartialFile, readPartial, readWhole } from '../../src/sources/durable.ts'
import { createEventLog, readEventFile } from '../../src/sources/event-log.ts'
import { createFileTree } from '../../src/sources/file-tree.ts'
import { readIncidentFile } from '../../src/sources/incident-files.ts'
import { createKeyFiles } from '../../src/sources/key-files.ts'
import { createKeyReport } from '../../src/sources/reports.ts'
import { it } from '../support/directory.ts'
import { manualClock } from '../support/manual-clock.ts'
import { must } from '../support/programs.ts'

const { signal } = new AbortController()
const timing = { interval: 60_000, timeout: 5000 }
const collect = async (stream: AsyncIterable<unknown>): Promise<void> => {
  for await (const part of stream) expect(part).toBe('never')
}

/** Every function that opens a file by its name, with the path below the directory that it opens. */
const READERS: readonly (readonly [path: string, read: (file: string, directory: string) => Promise<unknown>])[] = [
  ['beginning', async (file) => readBeginning(file, 10)],
  ['text', async (file) => readText(file, 10)],
  ['tree', async (_, directory) => createFileTree(directory).read('tree')],
  ['report', async (file) => createKeyReport({ ...timing, reportFile: file }, manualClock(Date.now()))?.(signal)],
  ['secret', async (file) => readSecretFile(file)],
  ['secrets', async (file) => readSecretLines(file, 'API keys')],
  ['20260301-125930.json', async (_, directory) => readIncidentFile(directory, '20260301-125930')],
  ['whole', async (file) => readWhole(file)],
  ['output.partial', async (_, directory) => openPartialFile(join(directory, 'output'))],
  ['resumed.partial', async (_, directory) => openPartialFile(join(directory, 'resumed'), 1)],
  ['read.partial', async (_, directory) => collect(readPartial(join(directory, 'read'), { bytes: 1, signal }))],
  ['events.jsonl', async (_, directory) => readEventFile(directory, () => expect.unreachable())],
  ['web.yml', async (file) => createWebConfigFile(file).load()],
  ['config.yaml', async (file) => Promise.resolve().then(() => readConfigText(file, 'the configuration file'))],
]

describe('a FIFO in place of a file is an error at once', () => {
  it.for(READERS)('%s', async ([path, read], { directory }) => {
    const file = join(directory, path)
    await must('mkdir', ['-p', join(file, '..')])
    await must('mkfifo', [file])
    await expect(read(file, directory)).rejects.toThrow('it is not a regular file')
  })

  it('of a key: the file is unknown', async ({ directory }) => {
    await must('mkfifo', [join(directory, 'key')])
    expect(await createKeyFiles().read(join(directory, 'key'), () => 'read')).toBe('failed')
  })

  it('of the state: the agent continues without it, and reports it', async ({ directory }) => {
    const files = ['slo.json', 'events.jsonl'].map((name) => join(directory, name))
    await must('mkfifo', files)
    const complaints: string[] = []
    const complain = ({ message }: Error): void => void complaints.push(message)
    const slo = createCheckpoints(directory, complain).open('slo')
    expect(await slo.read()).toEqual({ state: 'unreadable' })
    await slo.save(1)
    expect(await slo.read()).toEqual({ state: 'saved', value: 1 })
    const events = createEventLog({ directory, keep: 9, parse: () => expect.unreachable(), complain })
    events.add({ at: 0, collector: 'c', subject: null, from: null, to: 'up', severity: 'info', isFirstSight: true })
    await events.flush()
    expect(await events.all()).toMatchObject([{ id: 1, to: 'up' }])
    expect(complaints).toEqual([
      `${files[0] ?? ''}: it is not a regular file`,
      `EFTYPE: it is not a regular file, '${files[1] ?? ''}'`,
    ])
  })
})

test('a configuration may be the empty device, and what the shell passes for a command', async () => {
  expect(readTextSync('/dev/null', 1)).toBe('')
  const config = ['dist/main.js', 'config', '--config']
  const script = '"$@" <(echo "prefix: zephyr") | grep ^prefix'
  expect(await must('bash', ['-c', script, 'bash', process.execPath, ...config])).toMatch(
    /^prefix: zephyr +# \/dev\/fd\//,
  )
})

it('a file has a size limit, and a directory is none', async ({ directory }) => {
  const file = join(directory, 'file')
  await writeFile(file, 'x'.repeat(2049))
  await expect(readText(file, 2048)).rejects.toThrow(`EFBIG: it is larger than 2.00 KiB, '${file}'`)
  expect((await readText(file, 2049)).length).toBe(2049)
  expect(await readBeginning(file, 3)).toBe('xxx')
  await mkdir(join(directory, 'directory'))
  await rename(file, join(directory, 'directory/file'))
  await expect(readText(join(directory, 'directory'), 1)).rejects.toThrow('EISDIR: it is a directory')
})

/** An operation that ends when the test ends it. */
const operation = () => {
  let end = (): void => undefined
  let isStarted = false
  const ended = new Promise<string>((resolve) => {
    end = () => resolve('done')
  })
  const work = async (): Promise<string> => {
    isStarted = true
    return ended
  }
  return { work, end: () => end(), isStarted: () => isStarted }
}

/** What a promise ends with, as far as it has ended. */
const outcome = (running: Promise<string>): { text: string } => {
  const seen = { text: 'pending' }
  running.then(
    (text) => (seen.text = text),
    (error: unknown) => (seen.text = describeFileError(error).happened),
  )
  return seen
}

test('an operation that hangs stops the others of its file system, and two stop all, until they end', async () => {
  const clock = manualClock()
  const gate = createFileGate(5000, clock, (path) => path.split('/')[1] ?? '')
  const read = async (path: string): Promise<string> =>
    gate(path, () => Promise.resolve('read')).catch((error: unknown) => describeFileError(error).happened)
  const [a, waiting, b] = [operation(), operation(), operation()]
  const seen = [outcome(gate('/net/a', a.work)), outcome(gate('/net/b', waiting.work))]
  const texts = () => seen.map(({ text }) => text)
  expect(await read('/etc/d')).toBe('read')
  await clock.advance(2500)
  await clock.advance(2499)
  expect(texts()).toEqual(['pending', 'pending'])
  await clock.advance(1)
  const late = 'the file system has not answered within 5s'
  expect(texts()).toEqual([late, late])
  expect([await read('/net/c'), await read('/etc/d')]).toEqual([late, 'read'])
  // A second one, and all threads that files may occupy are taken. Kernel files do not use the gate.
  seen.push(outcome(gate('/mnt/a', b.work)))
  await clock.advance(0)
  await clock.advance(2500)
  await clock.advance(2500)
  expect([await read('/etc/d'), await read('/proc/stat')]).toEqual([late, 'read'])
  a.end()
  await clock.advance(0)
  expect(waiting.isStarted()).toBe(false)
  expect([await read('/net/a'), await read('/etc/d'), await read('/mnt/b')]).toEqual(['read', 'read', late])
  b.end()
  await clock.advance(0)
  expect(await read('/mnt/b')).toBe('read')
})

test('a pause of the process, as when a virtual machine is moved, makes no operation late', async () => {
  const gate = createFileGate(200)
  const reading = gate('/etc/a', async () => stat('/'))
  await Promise.resolve()
  const pause = new Int32Array(new SharedArrayBuffer(4))
  Atomics.wait(pause, 0, 0, 300)
  expect((await reading).isDirectory()).toBe(true)
})

it('a stream of a file that cannot be opened reports it when it is read', async ({ directory }) => {
  const link = join(directory, 'loop')
  await symlink('loop', link)
  await expect(collect(openStream(link, signal))).rejects.toThrow('ELOOP')
})

it('a socket that is left over is removed, and a file of its name is not', async ({ directory }) => {
  const [socket, file] = [join(directory, 'agent.sock'), join(directory, 'agent.lock')]
  const server = createServer().listen(socket)
  await once(server, 'listening')
  await rename(socket, `${socket}.left`)
  await new Promise((resolve) => server.close(resolve))
  await writeFile(file, 'of another program')
  for (const path of [`${socket}.left`, file, join(directory, 'missing')]) await removeSocket(path)
  expect(await readdir(directory)).toEqual(['agent.lock'])
})
