import { lexer, type MarkedToken, type Token, type Tokens } from 'marked'
import { html, type Html } from './html.ts'

/** The anchor of a heading, as Git hosts make it: `OOM kill` is `oom-kill`. */
export const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

/** Renders a Markdown file of this package. Its parts are values of templates, so that HTML in it is shown as text. */
export const renderMarkdown = (text: string, linkOf: (target: string) => string | undefined): Html => {
  const blocks = (tokens: readonly Token[] | undefined): readonly Html[] => (tokens ?? []).filter(isMarked).map(block)

  const block = (token: MarkedToken): Html => {
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the others are text
    switch (token.type) {
      case 'heading':
        return heading(token)
      case 'paragraph':
        return html`<p>${inlines(token.tokens)}</p> `
      case 'code':
        return html`<div class="command">
          <pre tabindex="0" role="group" aria-label="Commands"><code>${token.text}</code></pre>
          <button type="button" class="copy" aria-label="Copy the commands">Copy</button>
        </div> `
      case 'list':
        return list(token)
      case 'table':
        return table(token)
      case 'blockquote':
        return html`<blockquote>${blocks(token.tokens)}</blockquote> `
      case 'hr':
        return html`<hr /> `
      case 'space':
        return html``
      default:
        return inline(token)
    }
  }

  const heading = ({ depth, text: title, tokens }: Tokens.Heading): Html => {
    const content = inlines(tokens)
    if (depth === 1) return html`<h1>${content}</h1> `
    return depth === 2 ? html`<h2 id="${anchorOf(title)}">${content}</h2> ` : html`<h3>${content}</h3> `
  }

  const list = ({ ordered, items }: Tokens.List): Html => {
    const content = items.map((item) => html`<li>${blocks(item.tokens)}</li> `)
    return ordered
      ? html`<ol>
          ${content}
        </ol> `
      : html`<ul>
          ${content}
        </ul> `
  }

  const table = ({ header, rows }: Tokens.Table): Html =>
    html`<div class="scroll" tabindex="0" role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            ${header.map(({ tokens }) => html`<th scope="col">${inlines(tokens)}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            (row) =>
              html`<tr>
                ${row.map(({ tokens }) => html`<td>${inlines(tokens)}</td>`)}
              </tr> `,
          )}
        </tbody>
      </table>
    </div> `

  const inlines = (tokens: readonly Token[] | undefined): readonly Html[] => (tokens ?? []).filter(isMarked).map(inline)

  const inline = (token: MarkedToken): Html => {
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the others are text
    switch (token.type) {
      case 'codespan':
        return html`<code>${token.text}</code>`
      case 'strong':
        return html`<strong>${inlines(token.tokens)}</strong>`
      case 'em':
        return html`<em>${inlines(token.tokens)}</em>`
      case 'br':
        return html`<br />`
      case 'link': {
        const target = linkOf(token.href)
        return target === undefined
          ? html`${inlines(token.tokens)} (<code>${token.href.replace(/^\.\.\//, 'docs/')}</code>)`
          : html`<a href="${target}">${inlines(token.tokens)}</a>`
      }
      case 'text':
        return 'tokens' in token && token.tokens ? html`${inlines(token.tokens)}` : html`${token.text}`
      default:
        return html`${'text' in token ? token.text : token.raw}`
    }
  }

  return html`${blocks(lexer(text))}`
}

/** Without extensions there are no other tokens. */
const isMarked = (_token: Token): _token is MarkedToken => true
