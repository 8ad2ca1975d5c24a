import { readdir } from 'node:fs/promises'
import { asError, SourceError } from '../core/errors.ts'
import type { Exec } from './exec.ts'

/** The name prefix of every unit and tool, and where it was found. */
export interface Prefix {
  readonly word: string
  readonly from: 'configuration' | 'systemd' | 'PATH' | 'default'
}

/** Searches again on every call until a prefix is found: the node may be installed after the agent. */
export type ReadPrefix = (signal: AbortSignal) => Promise<Prefix>

interface PrefixOptions {
  readonly exec: Exec
  readonly path: string
  /** `auto`, or the prefix. */
  readonly configured: string
}

export const createPrefix = ({ exec, path, configured }: PrefixOptions): ReadPrefix => {
  let found: Prefix | undefined = configured === 'auto' ? undefined : { word: configured, from: 'configuration' }
  return async (signal) => {
    if (found) return found
    // Tools on PATH are used only if systemd has no matching unit or is unavailable.
    const units = await unitWords(exec, signal).catch(asError)
    const word = units instanceof Error ? undefined : only(units)
    const tool = word ?? only(await toolWords(path))
    if (tool !== undefined) found = { word: tool, from: word === undefined ? 'PATH' : 'systemd' }
    // If systemd is unavailable, fail instead of using the default prefix: the bus may not be up yet.
    else if (units instanceof Error) throw units
    return found ?? { word: 'chain', from: 'default' }
  }
}

/** Units or tools with two prefixes on one host are ambiguous. */
const only = (words: ReadonlySet<string>): string | undefined => (words.size === 1 ? [...words][0] : undefined)

const unitWords = async (exec: Exec, signal: AbortSignal): Promise<ReadonlySet<string>> => {
  const args = ['list-unit-files', '--no-legend', '--no-pager', '*-bft.service', '*-execution.service']
  const { exitCode, stdout, stderr } = await exec.run(
    // Exit code 1 means that nothing matches, or a failure with a message on standard error.
    { command: 'systemctl', args, answers: [0, 1] },
    signal,
  )
  if (exitCode !== 0 && stderr.trim() !== '') {
    throw new SourceError({
      doing: "find the node's prefix",
      happened: 'systemctl failed',
      evidence: stderr,
      advice: 'set `prefix:` in the configuration, or run the agent where systemd is process 1',
    })
  }
  const consensus = prefixesOf(stdout, /^([a-z][a-z0-9]*)-bft\.service\s/gm)
  // A fork of the node has no `-bft` in the name of its consensus unit.
  return consensus.size > 0 ? consensus : prefixesOf(stdout, /^([a-z][a-z0-9]*)-execution\.service\s/gm)
}

const prefixesOf = (names: string, pattern: RegExp): ReadonlySet<string> =>
  new Set([...names.matchAll(pattern)].map(([, word = '']) => word))

const toolWords = async (path: string): Promise<ReadonlySet<string>> => {
  const names = await Promise.all(path.split(':').map((directory) => readdir(directory).catch(() => [])))
  return prefixesOf(names.flat().join('\n'), /^([a-z][a-z0-9]*)-(?:mpt|ledger-tail)$/gm)
}
