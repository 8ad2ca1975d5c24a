import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { statusPageOf } from './agent-view.ts'

/** Next to the pictures: what they were drawn from. */
export const PAGE_DRAWN = 'page-drawn.json'

/**
 * What makes a picture one of another status page: its style, and the elements of a page on which nothing is known, with
 * their classes. Texts and numbers may change.
 */
export const markOfPage = async (): Promise<string> => {
  const { plain } = await statusPageOf().document()
  const elements = [...plain.toString().matchAll(/<(?<name>[a-z][a-z0-9]*)\b[^>]*?(?: class="(?<kind>[^"]*)")?[^>]*>/g)]
  const structure = elements.map(({ groups }) => `${groups?.['name'] ?? ''}.${groups?.['kind'] ?? ''}`).join(' ')
  const style = await readFile('page/style.css', 'utf8')
  return createHash('sha256').update(structure).update(style).digest('hex').slice(0, 16)
}
