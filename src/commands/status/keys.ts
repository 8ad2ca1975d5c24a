import type { z } from 'zod'
import { fact } from './fact.ts'
import { type Section, joined, summary, type View } from './section.ts'
import { amount, listOf, shape, timestamp, word } from './shapes.ts'
import { count, iso, moment } from './texts.ts'

const schema = listOf(
  shape({ key: word, kind: word, state: word, why: word, writtenAt: timestamp, copies: amount }),
)

type KeyFile = z.output<typeof schema>[number]

const filesIn = (view: View): readonly KeyFile[] => view.reading('keys', schema)

const nameOf = ({ key, kind }: KeyFile): string =>
  key === 'password' && kind === 'keystore' ? 'environment file' : `${key} ${kind}`

const toneOf = ({ state }: KeyFile) =>
  state === 'ok' ? undefined : state === null ? ('unknown' as const) : ('bad' as const)

/** So many are named in the overview. */
const FEW = 2

export const keys: Section = {
  name: 'keys',
  about: 'keystores, password and backups: there, whole, private',
  groups: [
    {
      from: 'keys',
      by: 'the key files',
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
                  writtenAt === null ? null : `written ${moment(view.at)(writtenAt)}`,
                  copies === null || copies === 0 ? null : `${copies} older beside it`,
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
        open.length <= FEW
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
