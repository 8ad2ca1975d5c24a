import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createReadPath } from '../../src/collectors/host/directories.ts'
import { host } from '../../src/collectors/host/collector.ts'
import { createMainPids } from '../../src/collectors/shared/node-state.ts'
import type { Clock } from '../../src/core/clock.ts'
import { SourceError } from '../../src/core/errors.ts'
import type { Exec, Output, Program } from '../../src/sources/exec.ts'
import { createHostSources } from '../../src/sources/host.ts'
import { keyFiles } from '../../src/sources/key-files.ts'
import type { Space } from '../../src/sources/space.ts'

/** A directory with files, and a time at which they were written where that matters. */
export const plant = async (files: Readonly<Record<string, string>>) => {
  const root = await mkdtemp(join(tmpdir(), 'host-tree-'))
  const put = async (path: string, text: string, at?: number): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
    if (at !== undefined) await utimes(join(root, path), at / 1000, at / 1000)
  }
  for (const [path, text] of Object.entries(files)) await put(path, text)
  return {
    root,
    put,
    take: (path: string) => rm(join(root, path), { recursive: true, force: true }),
    clear: () => rm(root, { recursive: true, force: true }),
  }
}

/** Programs by their whole command line; what is not there is not installed. */
export const programs = (answers: Readonly<Record<string, string | Partial<Output>>>) => {
  const asked: string[] = []
  const exec: Pick<Exec, 'run'> = {
    run: ({ command, args, answers: codes = [0] }: Program) => {
      const line = [command, ...args].join(' ')
      asked.push(line)
      const answer = answers[line]
      if (answer === undefined) {
        return Promise.reject(
          new SourceError({ doing: `run ${command}`, happened: `there is no ${command} on PATH` }),
        )
      }
      const output = { exitCode: 0, stdout: '', stderr: '' }
      const told =
        typeof answer === 'string' ? { ...output, stdout: answer } : { ...output, ...answer }
      if (codes.includes(told.exitCode)) return Promise.resolve(told)
      return Promise.reject(new SourceError({ doing: `run ${command}`, happened: 'it failed' }))
    },
  }
  return { asked, exec }
}

interface Watched {
  readonly clock: Clock
  readonly places: {
    readonly procfs: string
    readonly sysfs: string
    readonly bootDirectory: string
    readonly smartDirectory: string | null
  }
  readonly directories?: Readonly<Record<string, string>>
  readonly nodeDirectory?: string
  readonly ports?: readonly number[]
  readonly exec?: Pick<Exec, 'run'>
  readonly interval?: number
  /** In the place of the real one. */
  readonly space?: Space
}

/** The collector of the host on real directories. */
export const watchHost = (watched: Watched) => {
  const { clock, interval = 15_000 } = watched
  const mainPids = createMainPids()
  const unused = () => {
    throw new Error('nothing is followed here')
  }
  const sources = createHostSources(watched.places)
  const collector = host({
    ...sources,
    space: watched.space ?? sources.space,
    clock,
    mainPids,
    exec: { ...(watched.exec ?? programs({}).exec), stream: unused, killAll: () => undefined },
    readPath: createReadPath(
      () => Promise.resolve({ word: 'zephyr', from: 'configuration' }),
      keyFiles,
    ),
    ports: watched.ports ?? [8080, 9143],
    directories: watched.directories ?? {},
    nodeDirectory: watched.nodeDirectory ?? '/nonexistent',
    timing: { interval, timeout: 10_000 },
  })
  return {
    mainPids,
    /** One look: `name{labels}` without the beginning that all share, and the states. */
    look: async () => {
      const stop = new AbortController()
      return new Promise<{ values: Record<string, number>; states: Record<string, string> }>(
        (resolve, reject) => {
          void collector.run({ clock, signal: stop.signal }, (outcome) => {
            stop.abort()
            if (!outcome.ok) {
              reject(outcome.error)
              return
            }
            const values = collector
              .samples(outcome.value)
              .map(({ name, labels, value }): [string, number] => {
                const text = Object.values(labels).join(',')
                return [`${name.replace(/^chain_/, '')}${text === '' ? '' : `{${text}}`}`, value]
              })
            resolve({
              values: Object.fromEntries<number>(values),
              states: collector.states(outcome.value),
            })
          })
        },
      )
    },
  }
}
