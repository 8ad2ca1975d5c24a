import { readdir } from 'node:fs/promises'
import type { Exec } from './exec.ts'

/** The maker's word before every unit and tool, and what told us. */
export interface Prefix {
  readonly word: string
  readonly from: 'configuration' | 'systemd' | 'PATH' | 'default'
}

/** Finds the word anew until something has told it: the node may be installed after the agent. */
export type ReadPrefix = (signal: AbortSignal) => Promise<Prefix>

interface Options {
  readonly exec: Exec
  /** The search path for programs. */
  readonly path: string
  /** `auto`, or the word itself. */
  readonly configured: string
}

export const createPrefix = ({ exec, path, configured }: Options): ReadPrefix => {
  let found: Prefix | undefined =
    configured === 'auto' ? undefined : { word: configured, from: 'configuration' }
  return async (signal) => {
    if (found) return found
    const word = only(await unitWords(exec, signal))
    if (word !== undefined) found = { word, from: 'systemd' }
    else {
      const tool = only(await toolWords(path))
      if (tool !== undefined) found = { word: tool, from: 'PATH' }
    }
    return found ?? { word: 'chain', from: 'default' }
  }
}

/** Two makers on one host decide nothing. */
const only = (words: ReadonlySet<string>): string | undefined =>
  words.size === 1 ? [...words][0] : undefined

const unitWords = async (exec: Exec, signal: AbortSignal): Promise<ReadonlySet<string>> => {
  const args = ['list-unit-files', '--no-legend', '--no-pager', '*-bft.service']
  try {
    const { stdout } = await exec.run({ command: 'systemctl', args }, signal)
    return new Set(
      [...stdout.matchAll(/^([a-z][a-z0-9]*)-bft\.service\s/gm)].map(([, word = '']) => word),
    )
  } catch {
    return new Set() // no systemd here; whoever reads the units will say so
  }
}

const toolWords = async (path: string): Promise<ReadonlySet<string>> => {
  const words = new Set<string>()
  for (const directory of path.split(':')) {
    const names = await readdir(directory).catch(() => [])
    for (const name of names) {
      const [, word] = /^([a-z][a-z0-9]*)-(?:mpt|ledger-tail)$/.exec(name) ?? []
      if (word !== undefined) words.add(word)
    }
  }
  return words
}
