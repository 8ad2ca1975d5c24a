import type { z } from 'zod'
import { fact } from './fact.ts'
import { type Section, joined, summary, type View } from './section.ts'
import { nullableNumber, listOf, lenientObject, timestamp, nullableText } from './reading-schema.ts'
import { count, iso, timeWithAge } from './format.ts'

const schema = listOf(
  lenientObject({
    key: nullableText,
    kind: nullableText,
    state: nullableText,
    why: nullableText,
    writtenAt: timestamp,
    copies: nullableNumber,
  }),
)

type KeyFile = z.output<typeof schema>[number]

const filesIn = (view: View): readonly KeyFile[] => view.reading('keys', schema)

const nameOf = ({ key, kind }: KeyFile): string =>
  key === 'password' && kind === 'keystore' ? 'environment file' : `${key} ${kind}`

const toneOf = ({ state }: KeyFile) =>
  state === 'ok' ? undefined : state === null ? ('unknown' as const) : ('bad' as const)

/** The number of files that the overview names. */
const MAX_NAMED = 2

export const keys: Section = {
  name: 'keys',
  groups: [
    {
      collector: 'keys',
      source: 'the key files',
      facts: (view) => {
        const files = filesIn(view)
        if (files.length === 0) return [fact('files', null)]
        return files.map((file) => {
          const { key, kind, state, why, writtenAt, copies } = file
          return fact(
            [kind ?? '', key ?? ''],
            { state, why, writtenAt: iso(writtenAt), copies },
            {
              label: nameOf(file),
              text: () =>
                joined([
                  `${state ?? 'unknown'}${why === null ? '' : `: ${why}`}`,
                  writtenAt === null ? null : `written ${timeWithAge(view.at)(writtenAt)}`,
                  copies === null || copies === 0 ? null : `${copies} earlier`,
                ]) ?? '',
              tone: () => toneOf(file),
            },
          )
        })
      },
    },
  ],
  summary: (view) => {
    const files = filesIn(view)
    if (files.length === 0) return null
    const open = files.filter(({ state }) => state !== 'ok')
    if (open.length === 0) return summary(`all ${count(files.length, 'file')} ok`)
    const states = [...new Set(open.map(({ state }) => state ?? 'unknown'))]
    return summary(
      joined(
        open.length <= MAX_NAMED
          ? open.map((file) => `${nameOf(file)} ${file.state ?? 'unknown'}`)
          : states.map((one) => {
              const number = open.filter(({ state }) => (state ?? 'unknown') === one).length
              return `${number} of ${files.length} ${one}`
            }),
      ),
      open.some((file) => toneOf(file) === 'bad') ? 'bad' : 'unknown',
    )
  },
}
