import { fact } from './fact.ts'
import { type Section, summary, type View } from './section.ts'
import { away, iso } from './texts.ts'
import { whyUnknown } from './why.ts'

const enabledIn = ({ snapshot }: View) => snapshot.collectors.filter(({ enabled }) => enabled)

/** The agent itself, or what this command found out in its place. */
export const agent: Section = {
  name: 'agent',
  also: ['collectors'],
  about: 'version, prefix, and how each collector does',
  groups: [
    {
      from: null,
      by: 'the agent',
      facts: (view) => {
        const { version, prefix, origin, collectors } = view.snapshot
        return [
          fact('runs', origin === 'agent', {
            tone: (runs) => (runs ? undefined : 'notice'),
          }),
          fact('version', version),
          fact('prefix', prefix),
          ...collectors.map((told) => {
            const { name, enabled, up, lastSuccessAt, error } = told
            const state = !enabled
              ? 'off'
              : up === null
                ? 'no attempt has ended'
                : up
                  ? 'ok'
                  : 'bad'
            return fact(
              ['collectors', name],
              { enabled, up, lastSuccessAt: iso(lastSuccessAt), error },
              {
                label: name,
                text: () =>
                  state === 'bad'
                    ? (whyUnknown(told) ?? 'no fresh reading')
                    : state === 'ok' && lastSuccessAt !== null
                      ? `ok, ${away(lastSuccessAt, view.at)}`
                      : state,
                tone: () => (state === 'bad' ? 'bad' : state === 'off' ? 'quiet' : undefined),
              },
            )
          }),
        ]
      },
    },
  ],
  summary: (view) => {
    const enabled = enabledIn(view)
    const failing = enabled.filter(({ up }) => up !== true).map(({ name }) => name)
    const works = `${enabled.length - failing.length} of ${enabled.length} collectors work`
    const text = failing.length === 0 ? works : `${works}; not: ${failing.join(', ')}`
    return summary(
      view.snapshot.origin === 'agent' ? text : `none runs here; asked directly, ${text}`,
      failing.length === 0 && view.snapshot.origin === 'agent' ? undefined : 'notice',
    )
  },
}
