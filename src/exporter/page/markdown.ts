import { Marked } from 'marked'
import { Html, html } from './html.ts'

/** The anchor of a heading, as Git hosts make it: `OOM kill` is `oom-kill`. */
export const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

/** Renders a Markdown file of this package. HTML in it, and an image, are shown as text. */
export const renderMarkdown = (text: string, linkOf: (target: string) => string | undefined): Html => {
  const asText = ({ raw }: { readonly raw: string }): string => html`${raw}`.toString()
  const marked = new Marked({
    async: false,
    renderer: {
      html: asText,
      image: asText,
      heading({ depth, text: title, tokens }) {
        const content = Html.rendered(this.parser.parseInline(tokens))
        if (depth === 1) return html`<h1>${content}</h1> `.toString()
        return (
          depth === 2 ? html`<h2 id="${anchorOf(title)}">${content}</h2> ` : html`<h3>${content}</h3> `
        ).toString()
      },
      code: ({ text: commands }) =>
        html`<div class="command">
          <pre tabindex="0" role="group" aria-label="Commands"><code>${commands}</code></pre>
          <button type="button" class="copy" aria-label="Copy the commands">Copy</button>
        </div> `.toString(),
      tablecell({ header, tokens }) {
        const content = Html.rendered(this.parser.parseInline(tokens))
        return (header ? html`<th scope="col">${content}</th>` : html`<td>${content}</td>`).toString()
      },
      link({ href, tokens }) {
        const target = linkOf(href)
        const content = Html.rendered(this.parser.parseInline(tokens))
        return target === undefined
          ? html`${content} (<code>${href.replace(/^\.\.\//, 'docs/')}</code>)`.toString()
          : html`<a href="${target}">${content}</a>`.toString()
      },
    },
  })
  // The page scrolls a wide table, not the document.
  const rendered = marked
    .parse(text, { async: false })
    .replaceAll('<table>', '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>')
    .replaceAll('</table>', '</table></div>')
  return Html.rendered(rendered)
}
