import { join } from 'node:path'
import { decodeReadings } from '../../../src/commands/shared/agent-snapshot.ts'
import type { CollectorError } from '../../../src/core/board.ts'
import { readConfig } from '../../../src/config/load.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { createSampleIndex, type Sample } from '../../../src/core/metric.ts'
import type { Permission } from '../../../src/sources/process.ts'
import { createFileTree } from '../../../src/sources/file-tree.ts'
import { createHttpClient } from '../../../src/sources/http.ts'
import { createKeyFiles } from '../../../src/sources/key-files.ts'
import type { PreflightContext } from '../../../src/commands/check/preflight/context.ts'
import type { readUnitArguments } from '../../../src/commands/shared/unit-arguments.ts'
import { version } from '../../../src/core/package.ts'
import { execPrinting } from '../../support/exec-printing.ts'
import { snapshotWith } from '../../support/snapshot.ts'

export interface Host {
  /** What a program prints, by its name and first argument. */
  readonly tools?: Readonly<Record<string, string>>
  readonly isProcessListPublic?: boolean
  readonly permits?: Readonly<Record<string, Permission>>
  readonly collectors?: readonly {
    readonly name: string
    readonly up: boolean
    readonly reading?: unknown
    readonly error?: CollectorError
  }[]
  readonly samples?: readonly Sample[]
  /** The version of the agent from which the snapshot is; by default it is read from the node. */
  readonly agent?: string
  /** Links of the devices, and the directory with `proc` and `sys`. */
  readonly links?: Readonly<Record<string, string>>
  readonly root?: string
  readonly set?: readonly { readonly path: string; readonly value: string }[]
}

type UnitDirectories = Pick<Parameters<typeof readUnitArguments>[0], 'packagedDirectory' | 'localDirectory'>

export const context = (host: Host = {}): PreflightContext & UnitDirectories => {
  const { tools = {}, permits = {}, collectors = [], samples = [], links = {}, isProcessListPublic = false } = host
  const { config } = readConfig(undefined, {
    env: { CHAIN_AGENT_CONFIG: '/dev/null' },
    flags: (host.set ?? []).map((one) => ({ ...one, typed: one.path })),
  })
  const permit = (path: string): Promise<Permission> => Promise.resolve(permits[path] ?? 'yes')
  return {
    config,
    clock: systemClock,
    signal: new AbortController().signal,
    packagedDirectory: '/nowhere',
    localDirectory: '/nowhere',
    ask: createHttpClient(systemClock),
    access: {
      mayRead: permit,
      mayWrite: permit,
      resolve: (path) => Promise.resolve(links[path] ?? null),
      isProcessListPublic: () => Promise.resolve(isProcessListPublic),
    },
    procfs: createFileTree(join(host.root ?? '/nowhere', 'proc')),
    sysfs: createFileTree(join(host.root ?? '/nowhere', 'sys')),
    files: createKeyFiles(),
    exec: execPrinting(({ command, args }) => tools[`${command} ${args[0] ?? ''}`] ?? ''),
    snapshot: snapshotWith({
      origin: host.agent === undefined ? 'node' : 'agent',
      version: host.agent ?? version,
      known: createSampleIndex(samples),
      readings: decodeReadings(Object.fromEntries(collectors.map(({ name, reading }) => [name, reading]))),
      collectors: collectors.map(({ reading, error = null, ...one }) => ({
        help: '',
        enabled: true,
        lastSuccessAt: null,
        hasReading: reading !== undefined,
        error,
        ...one,
      })),
    }),
  }
}
