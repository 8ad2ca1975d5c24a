import type { Check, Finding } from '../finding.ts'
import type { Told } from '../picture.ts'
import { list } from '../words.ts'
import { finding } from './make.ts'

/** What could not be read. What is turned off is not broken, and an agent that has just begun is not, either. */
export const collectors: Check = ({ collectors: all }) => {
  const failing = all.filter(({ enabled, up }) => enabled && up === false)
  const journal = failing.filter(({ error }) => error !== null && /systemd-journal/.test(error))
  const others = failing.filter((one) => !journal.includes(one))
  return [...forbidden(journal), ...broken(others)]
}

const forbidden = (failing: readonly Told[]): readonly Finding[] =>
  failing.length === 0
    ? []
    : [
        finding(
          'ChainCollectorDown',
          {
            severity: 'warning',
            says: 'this user may not read the journal: the logs of the node are not seen',
          },
          {
            evidence: [
              `Unknown therefore: what ${list(failing.map(({ name }) => name))} would tell.`,
            ],
            advice: [
              'Add the user to the group: `usermod -aG systemd-journal USER`.',
              'A session that is open has the group only after a new login; a unit, after its restart.',
            ],
          },
        ),
      ]

const broken = (failing: readonly Told[]): readonly Finding[] =>
  failing.length === 0
    ? []
    : [
        finding(
          'ChainCollectorDown',
          {
            severity: 'warning',
            says: `${list(failing.map(({ name }) => name))} could not be read`,
          },
          {
            evidence: failing.map(
              ({ name, error }) => `${name}: ${error?.split('\n')[0] ?? 'no answer in time'}`,
            ),
            advice: failing.flatMap(({ error }) => {
              const [, advice] = /what to do: (.*)/.exec(error ?? '') ?? []
              return advice === undefined
                ? []
                : [`${advice[0]?.toUpperCase() ?? ''}${advice.slice(1)}.`]
            }),
          },
        ),
      ]
