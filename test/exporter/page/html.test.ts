import { expect, test } from 'vitest'
import { html } from '../../../src/exporter/page/html.ts'
import { renderMarkdown } from '../../../src/exporter/page/markdown.ts'

test.each([
  ['markup', '<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
  ['quotes', `"a" 'b' & c`, '&quot;a&quot; &#39;b&#39; &amp; c'],
  ['terminal colours', '\u001b[31mred\u001b[0m', 'red'],
  ['another direction', 'a\u202egnp.exe', 'agnp.exe'],
  ['letters of a right-to-left script', 'שלום', 'שלום'],
  ['a null byte between words', 'a \u0000 b', 'a \ufffd b'],
])('a value with %s is text', (_, value, shown) => {
  expect(html`<p title="${value}">${value}</p>`.toString()).toBe(`<p title="${shown}">${shown}</p>`)
})

test('a value of a megabyte is cut', () => {
  const text = html`${'<'.repeat(1_048_576)}`.toString()
  expect(text).toBe(`${'&lt;'.repeat(4096)}…`)
})

test('lists are joined, unknown is empty, HTML is inserted as it is', () => {
  const items = ['a', 'b'].map((item) => html`<li>${item}</li>`)
  expect(html`${items}${null}${undefined}${0}`.toString()).toBe('<li>a</li><li>b</li>0')
})

test('Markdown: markup in it is text, links to runbooks are kept, those to other pages are named', () => {
  const linkOf = (target: string) => (target === 'ChainBehind.md' ? '/runbooks/ChainBehind' : undefined)
  const text = renderMarkdown(
    [
      '# A <b>title</b>',
      '[a](ChainBehind.md), [b](../how-to/host.md), [c](javascript:alert(1)) `x < y` & <img src=x onerror=alert(1)>',
      '1. one **two**',
      '```sh\necho "<&>"\n```',
      '<script>alert(1)</script>',
    ].join('\n\n'),
    linkOf,
  ).toString()
  expect(text).toContain('<h1>A &lt;b&gt;title&lt;/b&gt;</h1>')
  expect(text).toContain(
    '<a href="/runbooks/ChainBehind">a</a>, b (<code>docs/how-to/host.md</code>), c (<code>javascript:alert(1)</code>)',
  )
  expect(text).toContain('<code>x &lt; y</code> &amp; &lt;img src=x onerror=alert(1)&gt;')
  expect(text).toContain('<li>one <strong>two</strong></li>')
  expect(text).toContain('<code>echo &quot;&lt;&amp;&gt;&quot;</code>')
  expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  expect(text).not.toMatch(/<(?:script|img|b)\b/)
})
