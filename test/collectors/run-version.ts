import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { version } from '../../src/collectors/version/collector.ts'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import type { Fork } from '../../src/config/forks.ts'
import { type Sample, sample } from '../../src/core/metric.ts'
import type { TIMELINES } from '../../src/collectors/storage/definition.ts'
import { createExec } from '../../src/sources/exec.ts'
import { createInstalledFiles } from '../../src/sources/installed-files.ts'
import { createPackageLists } from '../../src/sources/package-lists.ts'
import { recording } from './recording.ts'
import { pollOnce, readingOf, valuesOf } from './run-collector.ts'

export const COMMIT = '1e5c'.repeat(10)

let bin = ''
/** An empty host for each test. Each file calls it: a module that several files share is loaded once. */
export const withEmptyHost = (): void => {
  beforeEach(async () => {
    bin = await mkdtemp(join(tmpdir(), 'chain-agent-version-'))
  })
  afterEach(async () => {
    await rm(bin, { recursive: true })
  })
}

/** Creates a program on PATH from a shell script. */
export const program = async (name: string, script: string): Promise<void> => {
  await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`)
  await chmod(join(bin, name), 0o755)
}
export const prints = (text: string): string => `cat <<'END'\n${text}\nEND`
export const build = (tag: string, name = 'zephyr-node'): string =>
  prints(`${name} {"commit":"${COMMIT}","tag":"${tag}","branch":"","modified":true}`)
export const dpkg = (row: string): string => `[ "$1" = -W ] && [ "$3" = zephyr ] || exit 2\n${prints(row)}`
/** Writes a file of apt or dpkg, by its path from the root of the host. */
export const aptFile = async (path: string, text: string): Promise<void> => {
  const file = join(bin, 'root', path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}
export const NOT_INSTALLED = 'echo "dpkg-query: no packages found matching $3" >&2; exit 1'

export const rpcInfo = (clientVersion: string, chainId = '77'): Sample =>
  sample('chain_rpc_info', 1, { client_version: clientVersion, chain_id: chainId, net_version: '' })
export const nativeInfo = (text: string): Sample => sample('chain_native_info', 1, { network: 'devnet', version: text })
export const timeline = (kind: string, name: (typeof TIMELINES)[number] = 'primary'): Sample =>
  sample('chain_storage_timeline_info', 1, { timeline: name, kind })

const borealis: Fork = {
  name: 'borealis',
  kind: 'fork',
  activationAt: 4_000_000_000_000,
  minimumVersion: '0.16.1',
  timeline: 'page',
}

interface VersionRun {
  readonly published?: readonly Sample[]
  readonly programs?: readonly string[]
  readonly package?: string | null
  readonly timeout?: number
  readonly forksFile?: string | undefined
}

export const create = (run: VersionRun) => {
  const record = recording()
  const board = { samples: run.published ?? [] }
  const collector = version({
    exec: createExec({ clock: systemClock, path: `${bin}:/usr/bin:/bin` }),
    recorder: record.recorder,
    readPrefix: () => Promise.resolve({ word: 'zephyr', from: 'configuration' }),
    packageLists: createPackageLists(join(bin, 'root')),
    installedFiles: createInstalledFiles({ root: join(bin, 'root'), path: bin }),
    published: () => board.samples,
    programs: run.programs ?? ['node'],
    package: run.package ?? null,
    forks: new Map([['77', [borealis]]]),
    forksReviewedAt: Date.UTC(2026, 8, 3),
    forksFile: run.forksFile ?? null,
    timing: { interval: 10, timeout: run.timeout ?? 20_000 },
  })
  return { collector, board, pollOnce: (clock: Clock = systemClock) => pollOnce(collector, clock), total: record.total }
}

/** The calls of a program that the test has put on PATH with `counted`. */
export const callsOf = async (name: string): Promise<number> =>
  (await readFile(join(bin, `${name}.calls`), 'utf8')).length
export const counted = (name: string, script: string): string => `printf . >> ${join(bin, name)}.calls; ${script}`

/** One poll: the values by `name{labels}`, and the states. */
export const pollVersion = async (run: VersionRun = {}, { collector, pollOnce: poll, total } = create(run)) => {
  const reading = readingOf(await poll())
  return { shown: valuesOf(collector.samples(reading)), states: collector.states(reading), total }
}
