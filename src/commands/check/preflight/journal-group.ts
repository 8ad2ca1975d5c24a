import { parseGroups } from '../../../parsers/groups.ts'
import { list } from '../../../health/words.ts'
import { finding, type Look } from './visit.ts'

const GROUPS = ['systemd-journal', 'adm']
const ROOT = 0

/**
 * Why this user may not read the journal, where it may not: that it may not is told by whoever tried. Who
 * was added to a group has it from the next login on, which is easily forgotten.
 */
export const journalGroup: Look = {
  at: 'the groups of this user',
  look: async ({ picture, access: { user }, exec, signal }) => {
    const isBarred = picture.collectors.some(
      ({ enabled, up, error }) =>
        enabled && up === false && /may not read it|systemd-journal/.test(error ?? ''),
    )
    if (!isBarred || user.uid === ROOT) return []
    // 2 says that one of them does not exist; the others are told all the same.
    const program = { command: 'getent', args: ['group', ...GROUPS], answers: [0, 2] }
    const groups = parseGroups((await exec.run(program, signal)).stdout)
    const name = user.name ?? `${user.uid}`
    const had = groups.filter(({ id }) => user.groups.includes(id))
    const given = groups.filter(({ members }) => user.name !== null && members.includes(user.name))
    const waiting = given.filter((group) => !had.includes(group))
    if (had.length > 0) {
      return [
        finding('journal group', 'warning', {
          says: `this user is in the group ${list(namesOf(had))}, and still may not read the journal`,
          advice: [
            'See whose the files are: `ls -ld /var/log/journal /run/log/journal`.',
            'Let systemd set it right: `sudo systemd-tmpfiles --create --prefix /var/log/journal`.',
          ],
        }),
      ]
    }
    if (waiting.length > 0) {
      return [
        finding('journal group', 'warning', {
          says: `this session has not got the group ${list(namesOf(waiting))} yet, though ${name} is in it`,
          evidence: ['A process keeps the groups with which its session began.'],
          advice: [
            'Log in anew, and ask again.',
            `Where it is the user of the agent: \`sudo systemctl restart chain-agent\`.`,
          ],
        }),
      ]
    }
    return [
      finding('journal group', 'warning', {
        says: `the user ${name} is in no group that may read the journal`,
        evidence: [
          groups.length === 0
            ? `This host has none of the groups ${list(GROUPS)}.`
            : `These may: ${list(namesOf(groups))}.`,
        ],
        advice: [
          `Add it: \`sudo usermod -aG systemd-journal ${name}\`.`,
          'Then log in anew: a session that is open has the group only after that.',
        ],
      }),
    ]
  },
}

const namesOf = (groups: readonly { readonly name: string }[]): readonly string[] =>
  groups.map(({ name }) => name)
