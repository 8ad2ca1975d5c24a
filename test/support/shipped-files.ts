import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** CONTRIBUTING.md is about a checkout. */
const pagesOf = (root: string): readonly string[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.md') && path !== 'CONTRIBUTING.md',
  )

/** `PAGE: LINK` of each relative link and image of the Markdown files below `root` that leads to no file. */
export const deadLinks = (root: string): readonly string[] =>
  pagesOf(root).flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8')
    const links = [...text.matchAll(/\]\(([^)\s]+)\)|\s(?:src|srcset|href)="([^"]+)"/g)].map(([, a, b]) => a ?? b ?? '')
    const relative = links.filter((link) => !/^(?:[a-z]+:|#)/.test(link)).map((link) => link.replace(/#.*/, ''))
    return relative
      .filter((link) => !existsSync(normalize(join(root, dirname(page), link))))
      .map((link) => `${page}: ${link}`)
  })

/** What a document, the configuration or the program names in deploy/, and `root` does not have. */
export const missingFiles = (root: string): readonly string[] => {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\.(?:md|yaml|js)$/.test(path),
  )
  const named = files.flatMap((path) => [
    ...readFileSync(join(root, path), 'utf8').matchAll(/(?<![\w/])deploy\/([\w.-]+(?:\/[\w.-]+)*\w)(?![\w{-])/g),
  ])
  return [...new Set(named.map(([path]) => path))].filter((path) => !existsSync(join(root, path)))
}
