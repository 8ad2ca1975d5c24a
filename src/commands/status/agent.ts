import { fact } from './fact.ts'
import { type Section, summary, type View, whyUnknown } from './section.ts'
import { iso, relativeTime } from './format.ts'

const enabledIn = ({ snapshot }: View) => snapshot.collectors.filter(({ enabled }) => enabled)

/** The agent, or what this command has read in its place. */
export const agent: Section = {
  name: 'agent',
  aliases: ['collectors'],
  groups: [
    {
      collector: null,
      source: 'the agent',
      facts: (view) => {
        const { version, prefix, origin, collectors } = view.snapshot
        return [
          fact('runs', origin === 'agent', {
            tone: (runs) => (runs ? undefined : 'notice'),
          }),
          fact('version', version),
          fact('prefix', prefix),
          ...collectors.map((status) => {
            const { name, enabled, up, lastSuccessAt, error } = status
            const state = !enabled ? 'off' : up === null ? 'first attempt not finished' : up ? 'ok' : 'bad'
            return fact(
              ['collectors', name],
              { enabled, up, lastSuccessAt: iso(lastSuccessAt), error },
              {
                label: name,
                text: () =>
                  state === 'bad'
                    ? (whyUnknown(status) ?? 'no fresh reading')
                    : state === 'ok' && lastSuccessAt !== null
                      ? `ok, ${relativeTime(lastSuccessAt, view.at)}`
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
    const works = `${enabled.length - failing.length} of ${enabled.length} collectors ok`
    const text = failing.length === 0 ? works : `${works}; failing: ${failing.join(', ')}`
    return summary(
      view.snapshot.origin === 'agent' ? text : `not running; read from the node, ${text}`,
      failing.length === 0 && view.snapshot.origin === 'agent' ? undefined : 'notice',
    )
  },
}
