import { html } from './html.ts'
import { renderDocument } from './layout.ts'

/** The runbooks of the package. `Runbooks` of the sources is one. */
export interface RunbookSource {
  list(): Promise<readonly string[]>
  read(name: string, prefix: string): Promise<string>
}

interface RunbookPagesOptions {
  readonly source: RunbookSource
  readonly version: string
  /** The current name prefix of units and tools. */
  readonly prefix: () => string
}

export interface RunbookPages {
  names(): Promise<readonly string[]>
  /** The Markdown text with the real names of units; undefined if there is none of this name. */
  text(name: string): Promise<string | undefined>
  /** The page; `index` is the list of all. */
  page(name: string): Promise<string | undefined>
}

const INDEX = 'index'

/** Pages from docs/runbooks. A file is read, and rendered, when it is requested first. */
export const createRunbookPages = ({ source, version, prefix }: RunbookPagesOptions): RunbookPages => {
  let names: Promise<readonly string[]> | undefined
  const texts = new Map<string, Promise<string>>()
  const pages = new Map<string, Promise<string>>()

  const list = () =>
    (names ??= source.list().catch((error: unknown) => {
      names = undefined
      throw error
    }))
  const text = async (name: string): Promise<string | undefined> => {
    if (name !== INDEX && !(await list()).includes(name)) return undefined
    return cached(texts, `${prefix()} ${name}`, () => source.read(name, prefix()))
  }
  return {
    names: list,
    text,
    page: async (name) => {
      const markdown = await text(name)
      if (markdown === undefined) return undefined
      return cached(pages, `${prefix()} ${name}`, async () => {
        const { renderMarkdown } = await import('./markdown.ts')
        return renderDocument({
          title: `${name === INDEX ? 'Runbooks' : name} · chain-agent`,
          path: '/runbooks/',
          version,
          main: html`<div class="prose">${renderMarkdown(markdown, linkOf)}</div>`,
        })
      })
    },
  }
}

/** The path of the runbook of an alert, at the section of its row: of `ChainDiskFull.filling`. */
export const runbookPath = (address: string): string => `/runbooks/${address.replace('.', '#')}`

/** Other pages of the documentation are not served. */
const linkOf = (target: string): string | undefined => {
  const [, name, section = ''] = /^(Chain\w+)\.md(#.*)?$/.exec(target) ?? []
  return name === undefined ? undefined : `/runbooks/${name}${section}`
}

const cached = async (
  cache: Map<string, Promise<string>>,
  key: string,
  make: () => Promise<string>,
): Promise<string> => {
  const made = cache.get(key) ?? make()
  cache.set(key, made)
  try {
    return await made
  } catch (error) {
    cache.delete(key)
    throw error
  }
}
