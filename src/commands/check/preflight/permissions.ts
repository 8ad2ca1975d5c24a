import { parseGroups } from '../../../parsers/groups.ts'
import { joinList } from '../../../health/format.ts'
import { finding, type PreflightCheck } from './context.ts'

const GROUPS = ['systemd-journal', 'adm']
const ROOT = 0

/**
 * Why this user may not read the journal; the collectors report that it may not. A user who was added to a group has it
 * only after the next login, which is easily forgotten.
 */
export const journalGroup: PreflightCheck = {
  name: 'the groups of this user',
  run: async ({ snapshot, access: { user }, exec, signal }) => {
    const isForbidden = snapshot.collectors.some(
      ({ enabled, up, error }) => enabled && up === false && error?.code === 'journal not permitted',
    )
    if (!isForbidden || user.uid === ROOT) return []
    // Exit status 2: one of the groups does not exist; the others are printed nevertheless.
    const program = { command: 'getent', args: ['group', ...GROUPS], answers: [0, 2] }
    const groups = parseGroups((await exec.run(program, signal)).stdout)
    const name = user.name ?? `${user.uid}`
    const had = groups.filter(({ id }) => user.groups.includes(id))
    const given = groups.filter(({ members }) => user.name !== null && members.includes(user.name))
    const waiting = given.filter((group) => !had.includes(group))
    if (had.length > 0) {
      return [
        finding('journal group', 'warning', {
          says: `this user is in the group ${joinList(namesOf(had))}, and still may not read the journal`,
          advice: [
            'See the owner of the files: `ls -ld /var/log/journal /run/log/journal`.',
            'Restore their permissions: `sudo systemd-tmpfiles --create --prefix /var/log/journal`.',
          ],
        }),
      ]
    }
    if (waiting.length > 0) {
      return [
        finding('journal group', 'warning', {
          says: `this session does not have the group ${joinList(namesOf(waiting))} yet, although ${name} is in it`,
          evidence: ['A process keeps the groups that its session had at login.'],
          advice: [
            'Log in again, and repeat the check.',
            `If it is the user of the agent: \`sudo systemctl restart chain-agent\`.`,
          ],
        }),
      ]
    }
    return [
      finding('journal group', 'warning', {
        says: `the user ${name} is in no group that may read the journal`,
        evidence: [
          groups.length === 0
            ? `This host has none of the groups ${joinList(GROUPS)}.`
            : `Groups that may: ${joinList(namesOf(groups))}.`,
        ],
        advice: [
          `Add it: \`sudo usermod -aG systemd-journal ${name}\`.`,
          'Then log in again: an open session does not get the group.',
        ],
      }),
    ]
  },
}

const namesOf = (groups: readonly { readonly name: string }[]): readonly string[] => groups.map(({ name }) => name)

/** The state directory, with the journal cursors of the agent and the maintenance window of the operator. */
export const state: PreflightCheck = {
  name: 'the state directory',
  run: async ({ config, access }) => {
    const { directory } = config.state
    const permission = await access.mayWrite(directory)
    if (permission === 'yes' || permission === 'unknown') return []
    const isMissing = permission === 'none'
    return [
      finding('state directory', 'info', {
        says: isMissing
          ? 'the agent has no state directory yet'
          : 'this user may not write the state directory of the agent',
        evidence: [
          `It is ${directory} (state.directory).`,
          isMissing
            ? 'systemd creates it when the unit of the agent starts for the first time.'
            : 'This is normal for every user other than that of the agent.',
        ],
        advice: isMissing ? [] : ['Set a maintenance window as root: `sudo chain-agent maintenance start 30m`.'],
      }),
    ]
  },
}
