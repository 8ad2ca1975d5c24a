// The documentation as a static site in .cache/site: the pages at their paths in the repository, with .html instead of .md and
// index.html instead of README.md.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { Marked } from 'marked'

const OUTPUT = '.cache/site'

const pagesIn = (folder) =>
  readdirSync(folder, { recursive: true })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join(folder, file))

const PAGES = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', ...pagesIn('docs')]
const STYLE = 'page/style.css'
const NAVIGATION = [
  ['README.md', 'chain-agent'],
  ['docs/README.md', 'Documentation'],
  ['docs/runbooks/index.md', 'Runbooks'],
  ['CHANGELOG.md', 'Changelog'],
]

const siteFileOf = (path) => path.replace(/(?:^|(?<=\/))README\.md$/, 'index.md').replace(/\.md$/, '.html')

const write = (path, text) => {
  mkdirSync(dirname(join(OUTPUT, path)), { recursive: true })
  writeFileSync(join(OUTPUT, path), text)
}

const copy = (path) => {
  mkdirSync(dirname(join(OUTPUT, path)), { recursive: true })
  copyFileSync(path, join(OUTPUT, path))
}

/** The target of a link on the site; undefined for a directory, which has no page. Copies a file that is no page. */
const targetOf = (page, link) => {
  if (/^(?:\w+:|#)/.test(link)) return link
  const [, path, anchor] = /^([^#]*)(#.*)?$/.exec(link)
  const file = join(dirname(page), path)
  if (statSync(file).isDirectory()) return undefined
  if (!PAGES.includes(file)) copy(file)
  return `${siteFileOf(path)}${anchor ?? ''}`
}

/** Anchors of headings as Git hosts make them: an equal one gets a number. */
const createAnchors = () => {
  const counts = new Map()
  return (heading) => {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-')
    const count = counts.get(anchor) ?? 0
    counts.set(anchor, count + 1)
    return count === 0 ? anchor : `${anchor}-${count}`
  }
}

const renderMarkdown = (page, text) => {
  const anchorOf = createAnchors()
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: heading }) {
        return `<h${depth} id="${anchorOf(heading)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
    },
    walkTokens: (token) => {
      if (token.type === 'image') token.href = targetOf(page, token.href)
      if (token.type === 'link') {
        const target = targetOf(page, token.href)
        if (target === undefined) token.type = 'text'
        else token.href = target
      }
      if (token.type === 'html')
        for (const [, file] of token.text.matchAll(/ (?:src|srcset)="([^"]+)"/g)) targetOf(page, file)
    },
  })
  return marked.parse(text, { async: false })
}

const renderPage = (page) => {
  const text = readFileSync(page, 'utf8')
  const from = (path) => relative(dirname(page), siteFileOf(path))
  const title = /^# (.*)$/m.exec(text)?.[1].replaceAll('`', '').replaceAll('&', '&amp;').replaceAll('<', '&lt;') ?? page
  const links = NAVIGATION.map(([path, name]) => `<li><a href="${from(path)}">${name}</a></li>`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="${from(STYLE)}">
<style>.prose img { max-width: 100% } .prose table { display: block; overflow-x: auto }</style>
</head>
<body>
<header><nav aria-label="Pages"><ul>${links.join('')}</ul></nav></header>
<main class="prose">
${renderMarkdown(page, text)}</main>
</body>
</html>
`
}

rmSync(OUTPUT, { recursive: true, force: true })
for (const page of PAGES) write(siteFileOf(page), renderPage(page))
copy(STYLE)
console.log(`wrote ${PAGES.length} pages to ${OUTPUT}`)
