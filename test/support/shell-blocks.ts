import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'docs']

/** Where a block runs: a terminal of the demo, the steps of an npm installation, a host with the Debian packages or an apt repository. */
const PLACES = ['demo', 'install', 'node', 'apt'] as const
type Place = (typeof PLACES)[number]

export interface ShellBlock {
  readonly page: string
  readonly line: number
  readonly text: string
  /** The comment before the block: `run: PLACE`, or `not run: REASON`; empty without one. */
  readonly mark: string
}

interface Run {
  readonly place: Place
  /** The highest exit status that is not a failure. */
  readonly maxStatus: number
}

/** Every shell block of the documentation, without those of the runbooks. */
export const shellBlocks = (): readonly ShellBlock[] =>
  PAGES.flatMap((entry) => (entry.endsWith('.md') ? [entry] : markdownIn(entry)))
    .filter((page) => !page.startsWith('docs/runbooks/'))
    .flatMap(blocksOf)

const markdownIn = (folder: string): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .toSorted()

const BLOCK = /(?:^ *<!-- (?<mark>.*) -->\n\n)?^(?<indent> *)```(?:sh|console)\n(?<text>[\s\S]*?)^\k<indent>```$/gm

export const blocksOf = (page: string): readonly ShellBlock[] => {
  const source = readFileSync(join(ROOT, page), 'utf8')
  return [...source.matchAll(BLOCK)].map(({ index, groups }) => ({
    page,
    line: source.slice(0, index).split('\n').length,
    text: (groups?.['text'] ?? '').replaceAll(new RegExp(`^${groups?.['indent'] ?? ''}`, 'gm'), ''),
    mark: groups?.['mark'] ?? '',
  }))
}

/** Undefined if no test runs the block. */
export const runOf = ({ mark }: Pick<ShellBlock, 'mark'>): Run | undefined => {
  const [, name, status = '0'] = /^run: (\w+)(?:, exit 0 to (\d))?$/.exec(mark) ?? []
  const place = PLACES.find((known) => known === name)
  return place && { place, maxStatus: Number(status) }
}

/** The reason why no test runs the block; empty without one. */
export const reasonOf = ({ mark }: Pick<ShellBlock, 'mark'>): string => /^not run: (.+)$/.exec(mark)?.[1] ?? ''

/** The blocks of a page for one place as one script for bash, so that variables and the working directory stay. */
export const scriptOf = (blocks: readonly ShellBlock[], place: Place): string =>
  blocks
    .flatMap((block) => {
      const run = runOf(block)
      if (run?.place !== place) return []
      return [run.maxStatus === 0 ? block.text : `{ ${block.text}\n} || [ $? -le ${run.maxStatus} ]`]
    })
    .join('\n')
