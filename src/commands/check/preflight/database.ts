import type { Finding } from '../../../health/finding.ts'
import { finding, type Look, type Visit } from './visit.ts'

/** Why the report on the database cannot be had, where it cannot. */
export const database: Look = {
  at: 'the device of the database',
  look: async (visit) => {
    const told = visit.picture.collectors.find(({ name }) => name === 'storage')
    if (told?.enabled !== true || told.up !== false) return []
    const { reportFile, devices } = visit.config.storage
    if (reportFile !== null) return report(visit, reportFile)
    const found = await Promise.all(devices.map((path) => device(visit, path)))
    return found.flat()
  },
}

const UNIT = 'chain-agent-storage'

const report = async ({ access }: Visit, path: string): Promise<readonly Finding[]> => {
  const permit = await access.mayRead(path)
  if (permit !== 'none' && permit !== 'no') return []
  return [
    finding('storage report', 'warning', {
      says:
        permit === 'none'
          ? 'nobody has written the report on the database'
          : 'this user may not read the report on the database',
      evidence: [`It should be ${path} (storage.reportFile).`],
      advice:
        permit === 'none'
          ? [
              `See the unit that writes it: \`systemctl status ${UNIT}.timer ${UNIT}.service\`.`,
              `Where it is not installed, it is in deploy/: \`sudo systemctl enable --now ${UNIT}.timer\`.`,
            ]
          : [`Let others read it: the unit ${UNIT}.service in deploy/ writes it so.`],
    }),
  ]
}

const device = async ({ access }: Visit, path: string): Promise<readonly Finding[]> => {
  const permit = await access.mayRead(path)
  if (permit === 'none') {
    return [
      finding('database device', 'warning', {
        says: `there is no ${path}`,
        evidence: ['The database tool is given it by storage.devices.'],
        advice: [
          'See which device the node uses, and whether its link was made at boot: `lsblk -o NAME,SIZE,MODEL,FSTYPE` and `ls -l /dev/triedb`.',
          'Where it has another name, set `storage.devices` in the configuration.',
        ],
      }),
    ]
  }
  if (permit !== 'no') return []
  return [
    finding('database device', 'warning', {
      says: `this user may not read ${path}`,
      evidence: ['The database tool opens it, for reading alone.'],
      advice: [
        `Leave that to a unit with the right to, and set \`storage.reportFile\`: \`sudo systemctl enable --now ${UNIT}.timer\` (deploy/).`,
        'For this once: `sudo chain-agent check`.',
      ],
    }),
  ]
}
