import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { runbooks } from '../../src/sources/runbooks.ts'

const DIRECTORY = 'docs/runbooks'
const names = readdirSync(DIRECTORY).flatMap((file) => (file === 'index.md' ? [] : [file.replace(/\.md$/, '')]))

/** Names with `chain-` that do not depend on the node: of this project, and of a file that a step writes. */
const OWN = /^chain-(?:agent(?:-(?:keys|storage|smart|files|serve-query))?|query-service|crash)$/

test.each(names)('%s has the prefix of the node in every name of a unit, tool and directory', async (name) => {
  const page = await runbooks.read(name, 'monad')
  const left = page.match(/(?<!\/d\/|-)\bchain-[a-z]+(?:-[a-z]+)*/g) ?? []
  expect(left.filter((one) => !OWN.test(one))).toEqual([])
  expect(page).not.toMatch(/\bchain-?\*|(?:home|opt)\/chain\b/)
  // Nothing else changes: names of the agent and of its metrics stay, and places in the node's source.
  const text = readFileSync(`${DIRECTORY}/${name}.md`, 'utf8')
  expect(page.replaceAll('monad', 'chain')).toBe(text.replaceAll('monad', 'chain'))
})
