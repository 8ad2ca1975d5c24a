import { finding, type Look } from './visit.ts'

/** Where the agent keeps its places in the journal, and an operator announces maintenance. */
export const state: Look = {
  at: 'the state directory',
  look: async ({ config, access }) => {
    const { directory } = config.state
    const permit = await access.mayWrite(directory)
    if (permit === 'yes' || permit === 'unknown') return []
    const isMissing = permit === 'none'
    return [
      finding('state directory', 'info', {
        says: isMissing
          ? 'the agent has no state directory yet'
          : 'this user may not write the state directory of the agent',
        evidence: [
          `It is ${directory} (state.directory).`,
          isMissing
            ? 'systemd makes it when the unit of the agent first starts.'
            : 'That is as it should be for all but the user of the agent.',
        ],
        advice: isMissing
          ? []
          : ['Announce maintenance as root: `sudo chain-agent maintenance start 30m`.'],
      }),
    ]
  },
}
