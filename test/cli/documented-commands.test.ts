import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { captureHelp } from '../../src/cli/help/help.ts'
import { completeProgram, withSubcommands } from '../support/words.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'docs', 'scenarios', 'alerts', 'deploy'].flatMap(
  (place) =>
    place.endsWith('.md')
      ? [place]
      : readdirSync(join(ROOT, place), { encoding: 'utf8', recursive: true })
          .filter((file) => /\.(?:md|scenario|yaml|service)$/.test(file))
          .map((file) => `${place}/${file}`),
)

const program = await completeProgram()

/** The `chain-agent` command lines of a page: at the start of a line, after another command, or in a code span. */
const shownIn = (text: string): readonly (readonly string[])[] =>
  [...text.matchAll(/(?:^|`|\$ |; |sudo |-u chain-agent |watch -d )chain-agent ([a-z][^`|#;\n]*)/gm)].map(
    ([, line = '']) => line.trim().split(/\s+/),
  )

/** The mistake of a command line; undefined if it is valid. */
const wrong = (words: readonly string[]): string | undefined => {
  let command: Command = program
  for (const word of words) {
    if (/^--?[a-z]/.test(word)) {
      const [flag = ''] = word.split('=')
      const isKnown = [command, program].some(({ options }) =>
        options.some(({ short, long }) => short === flag || long === flag),
      )
      if (!isKnown && flag !== '--help' && flag !== '-h') return `${command.name()} has no ${flag}`
    } else {
      const next = command.commands.find((one) => one.name() === word)
      if (!next && command === program) return `there is no ${word}`
      command = next ?? command
    }
  }
  return undefined
}

test.each([
  ...PAGES.map((page) => [page, readFileSync(join(ROOT, page), 'utf8')] as const),
  [
    'the help',
    withSubcommands(program)
      .map(captureHelp)
      .join('\n')
      .replaceAll(/^ +chain-agent/gm, 'chain-agent'),
  ] as const,
])('%s contains only existing commands and options', (_, text) => {
  expect(shownIn(text).flatMap((words) => wrong(words) ?? [])).toEqual([])
})
