import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { host } from '../../src/collectors/host/collector.ts'
import { createMainPids } from '../../src/collectors/shared/node-state.ts'
import type { Clock } from '../../src/core/clock.ts'
import { SourceError } from '../../src/core/errors.ts'
import type { Exec, Output, Program } from '../../src/sources/exec.ts'
import { createHostSources } from '../../src/sources/host.ts'
import { keyFiles } from '../../src/sources/key-files.ts'
import { createFileTree, type DiskUsage } from '../../src/sources/file-tree.ts'
import { recording } from './recording.ts'
import { execOf, pollOnce, readingOf, valuesOf } from './run-collector.ts'

/** Creates a directory with files, for one test. */
export const createTree = async (files: Readonly<Record<string, string>>) => {
  const root = await mkdtemp(join(tmpdir(), 'host-tree-'))
  onTestFinished(async () => rm(root, { recursive: true, force: true }))
  const put = async (path: string, text: string, at?: number): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
    if (at !== undefined) await utimes(join(root, path), at / 1000, at / 1000)
  }
  for (const [path, text] of Object.entries(files)) await put(path, text)
  return {
    root,
    put,
    remove: (path: string) => rm(join(root, path), { recursive: true, force: true }),
  }
}

/** Programs by their command line; others are not installed. */
export const programs = (answers: Readonly<Record<string, string | Partial<Output>>>) => {
  const commands: string[] = []
  const exec: Pick<Exec, 'run'> = {
    run: ({ command, args, answers: codes = [0] }: Program) => {
      const line = [command, ...args].join(' ')
      commands.push(line)
      const answer = answers[line]
      if (answer === undefined) {
        return Promise.reject(new SourceError({ doing: `run ${command}`, happened: `there is no ${command} on PATH` }))
      }
      const output = { exitCode: 0, stdout: '', stderr: '' }
      const result = typeof answer === 'string' ? { ...output, stdout: answer } : { ...output, ...answer }
      if (codes.includes(result.exitCode)) return Promise.resolve(result)
      return Promise.reject(new SourceError({ doing: `run ${command}`, happened: 'it failed' }))
    },
  }
  return { commands, exec }
}

interface HostRun {
  readonly clock: Clock
  /** One directory for all of them, or each. */
  readonly places: string | Parameters<typeof createHostSources>[0]
  readonly directories?: Readonly<Record<string, string>>
  readonly fileSystems?: readonly string[]
  readonly nodeDirectory?: string
  readonly ports?: readonly number[]
  readonly firewalledPorts?: readonly number[]
  readonly exec?: Pick<Exec, 'run'>
  readonly interval?: number
  /** Replaces the real one. */
  readonly space?: DiskUsage
}

const placesIn = (root: string) => ({ procfs: root, sysfs: root, bootDirectory: root, smartDirectory: null })

/** The host collector on real directories. */
export const runHost = (run: HostRun) => {
  const { clock, interval = 15_000 } = run
  const mainPids = createMainPids()
  const record = recording()
  const sources = createHostSources(typeof run.places === 'string' ? placesIn(run.places) : run.places)
  const collector = host({
    host: { ...sources, space: run.space ?? sources.space },
    clock,
    mainPids,
    recorder: record.recorder,
    exec: execOf((run.exec ?? programs({}).exec).run),
    readPrefix: () => Promise.resolve({ word: 'zephyr', from: 'configuration' }),
    keyFiles,
    ports: run.ports ?? [8080, 9143],
    firewalledPorts: run.firewalledPorts ?? [],
    directories: run.directories ?? {},
    fileSystems: run.fileSystems ?? [],
    nodeDirectory: run.nodeDirectory ?? '/nonexistent',
    nodeFiles: createFileTree('/'),
    timing: { interval, timeout: 10_000 },
  })
  return {
    mainPids,
    total: record.total,
    /** One poll: values by `name{labels}` without the common prefix, and the states. */
    poll: async () => {
      const reading = readingOf(await pollOnce(collector, clock))
      return { values: valuesOf(collector.samples(reading)), states: collector.states(reading) }
    },
  }
}
