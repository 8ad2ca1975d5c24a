import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { digest } from './chain.ts'
import type { SimulatedNode } from './subject.ts'
import { CHAIN_ID } from './rpc/rpc.ts'
import { type Argument, directiveTable, setIn, settingOf, taking } from './scenario/directives.ts'
import { NODE_ROLES, restartAll } from './services/service.ts'
import type { Tool } from './tools/tools.ts'
import { widen } from '../src/core/widen.ts'

interface Install {
  readonly fromMs: number
  readonly version: string
}

/** The installed versions of the node, and whether the RPC reports its version. */
export const usualVersions = {
  /** Oldest first; the first has always been installed. */
  installs: widen<readonly [Install, ...Install[]]>([{ fromMs: -Infinity, version: '0.16.1' }]),
  /** Whether the RPC hides its version. */
  hidden: false,
  /** The newest version in the package lists; null: the installed one. */
  offered: widen<string | null>(null),
  /** Whether the package is on hold. */
  held: true,
}

type Versions = Readonly<typeof usualVersions>

const latestInstall = ({ installs: [first, ...later] }: Versions): Install => later.at(-1) ?? first

/** The version of a process that is started now. */
export const installedVersion = (versions: Versions): string => latestInstall(versions).version

/** A process keeps the version that was installed when it was started. */
export const runningVersion = (
  { installs: [first, ...later] }: Versions,
  { startedMs }: { readonly startedMs: number },
): string => later.findLast(({ fromMs }) => fromMs <= startedMs)?.version ?? first.version

const changeVersions = setIn('versions')

const versionNumber: Argument<string> = {
  expected: 'a version such as 0.17.0',
  read: (text) => (/^\d{1,4}\.\d{1,4}\.\d{1,4}(?:-[a-z]+\d*|\+\d{1,2})?$/.test(text) ? text : undefined),
}

/** Directives for installed, running and reported versions. */
export const versionDirectives = directiveTable({
  'package was': [
    'that version has been installed and running since before the start',
    taking(versionNumber, (version) => changeVersions({ installs: [{ fromMs: -Infinity, version }] })),
  ],
  'package upgraded': [
    'that version is installed; each service runs it after its next restart',
    taking(versionNumber, (version) =>
      changeVersions(({ installs }, fromMs) => ({ installs: [...installs, { fromMs, version }] })),
    ),
  ],
  'package offered': ['that version is in the package lists', settingOf('versions', 'offered', versionNumber)],
  'package unheld': ['the package is no longer on hold', changeVersions({ held: false })],
  'node restarts': [
    'an operator restarts consensus, execution and RPC together',
    (condition, atMs) => ({ ...condition, services: restartAll(condition.services, NODE_ROLES, atMs) }),
  ],
  'version hides': ['the RPC reports its name without a version', changeVersions({ hidden: true })],
})

/** `Name/version` as the RPC reports it: the capitalized name prefix. */
export const clientVersionOf = ({ prefix, condition }: SimulatedNode): string => {
  const { versions, services } = condition()
  const version = versions.hidden ? 'unknown' : runningVersion(versions, services.rpc)
  return `${capitalised(prefix)}/${version.replace(/[-+].*/, '')}`
}

export const capitalised = (word: string): string => `${word.charAt(0).toUpperCase()}${word.slice(1)}`

/** The simulated consensus program: it only prints its version. */
export const createVersionTool =
  ({ prefix, condition }: SimulatedNode): Tool =>
  (argv) => {
    if (argv.length !== 1 || !/^(?:--version|-V)$/.test(argv[0] ?? '')) {
      return [{ stderr: `error: the simulated ${prefix}-node knows --version only\n` }, { exit: 2 }]
    }
    const version = installedVersion(condition().versions)
    const build = { commit: digest('commit', version).slice(0, 40), tag: `v${version}`, branch: '', modified: true }
    return [{ stdout: `${prefix}-node ${JSON.stringify(build)}\n` }, { exit: 0 }]
  }

/** The simulated apt-cache with one command, `policy NAME`: the installed version, and the one that is offered. */
export const createPolicyTool =
  ({ prefix, condition }: SimulatedNode): Tool =>
  ([command, name]) => {
    if (command !== 'policy' || name !== prefix) return [{ exit: 0 }]
    const { versions } = condition()
    const [installed, candidate] = [installedVersion(versions), versions.offered ?? installedVersion(versions)].map(
      debianVersion,
    )
    const listed = `500\n        500 http://packages.simulated stable/main amd64 Packages`
    const rows = [
      ...(candidate === installed ? [] : [`     ${candidate} ${listed}`]),
      ` *** ${installed} ${listed}\n        100 /var/lib/dpkg/status`,
    ]
    const table = `  Version table:\n${rows.join('\n')}\n`
    return [{ stdout: `${name}:\n  Installed: ${installed}\n  Candidate: ${candidate}\n${table}` }, { exit: 0 }]
  }

/** Debian writes `~rc` for `-rc`: it sorts before the release. */
const debianVersion = (version: string): string => version.replace('-', '~')

/** The simulated dpkg-query, with a package and one command: `-W -f=FORMAT NAME...`. */
export const createPackageTool =
  (node: SimulatedNode): Tool =>
  (argv) => {
    const [show, form = '', name = ''] = argv
    const [, template] = /^-f=(.*)$/s.exec(form) ?? []
    if (show !== '-W' || template === undefined) {
      return [{ stderr: 'dpkg-query: error: simulated: -W -f=FORMAT NAME... alone\n' }, { exit: 2 }]
    }
    if (name !== node.prefix) {
      return [{ stderr: `dpkg-query: no packages found matching ${name}\n` }, { exit: 1 }]
    }
    const { versions } = node.condition()
    const fields: Readonly<Record<string, string>> = {
      'db:Status-Abbrev': versions.held ? 'hi ' : 'ii ',
      Package: node.prefix,
      Version: debianVersion(installedVersion(versions)),
      Architecture: 'amd64',
      'db-fsys:Last-Modified': String(Math.max(0, Math.floor(latestInstall(versions).fromMs / SECOND))),
    }
    const stdout = template
      .replaceAll(/\$\{([\w:-]+)\}/g, (_, field: string) => fields[field] ?? '')
      .replaceAll(String.raw`\n`, '\n')
    return [{ stdout }, { exit: 0 }]
  }

const SECOND = 1000
const DAY = 86_400 * SECOND

/**
 * Writes the forks of the simulated network, for the agent's `version.forksFile`: `first-light` was activated long ago
 * and is no longer exported from the 90th second on; the last day before `aurora` begins with the 30th second.
 */
export const writeForkFile = async (directory: string, beginMs: number): Promise<string> => {
  const file = join(directory, 'forks.yaml')
  const at = (ms: number): string => new Date(Math.ceil(ms / SECOND) * SECOND).toISOString()
  await writeFile(
    file,
    [
      `reviewed: ${new Date(beginMs).toISOString().slice(0, 10)}`,
      `${CHAIN_ID}:`,
      '  - name: first-light',
      '    kind: release',
      `    activation: ${at(beginMs - 30 * DAY + 90 * SECOND)}`,
      '    minimumVersion: 0.15.0',
      '  - name: aurora',
      '    kind: fork',
      `    activation: ${at(beginMs + DAY + 30 * SECOND)}`,
      '    minimumVersion: 0.16.1',
      '    timeline: page',
      '',
    ].join('\n'),
  )
  return file
}
