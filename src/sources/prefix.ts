import { readdir } from 'node:fs/promises'
import { SourceError } from '../core/errors.ts'
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
    // Tools on PATH decide only where systemd has said nothing, or cannot be asked.
    const told = await attemptToTell(exec, signal)
    const word = 'words' in told ? only(told.words) : undefined
    const tool = word ?? only(await toolWords(path))
    if (tool !== undefined) found = { word: tool, from: word === undefined ? 'PATH' : 'systemd' }
    // Not "no node": a bus that is not up yet must not make us forget where we were.
    else if ('error' in told) throw told.error
    return found ?? { word: 'chain', from: 'default' }
  }
}

type Told = { readonly words: ReadonlySet<string> } | { readonly error: unknown }

const attemptToTell = async (exec: Exec, signal: AbortSignal): Promise<Told> => {
  try {
    return { words: await unitWords(exec, signal) }
  } catch (error) {
    return { error }
  }
}

/** Two makers on one host decide nothing. */
const only = (words: ReadonlySet<string>): string | undefined =>
  words.size === 1 ? [...words][0] : undefined

const unitWords = async (exec: Exec, signal: AbortSignal): Promise<ReadonlySet<string>> => {
  const args = ['list-unit-files', '--no-legend', '--no-pager', '*-bft.service']
  const { exitCode, stdout, stderr } = await exec.run(
    // 1 says that nothing matches, or that it went wrong; then it says why.
    { command: 'systemctl', args, answers: [0, 1] },
    signal,
  )
  if (exitCode !== 0 && stderr.trim() !== '') throw cannotTell(stderr)
  return new Set(
    [...stdout.matchAll(/^([a-z][a-z0-9]*)-bft\.service\s/gm)].map(([, word = '']) => word),
  )
}

const cannotTell = (stderr: string): SourceError =>
  new SourceError({
    doing: "find the node's prefix",
    happened: 'systemctl does not tell',
    evidence: stderr,
    advice: 'set `prefix:` in the configuration, or run the agent where systemd is process 1',
  })

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
