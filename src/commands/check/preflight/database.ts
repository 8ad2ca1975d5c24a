import type { Finding } from '../../../health/finding.ts'
import { finding, type PreflightCheck, type PreflightContext } from './context.ts'

/** Why there is no storage report, if there is none. */
export const database: PreflightCheck = {
  name: 'the device of the database',
  run: async (context) => {
    const status = context.snapshot.collectors.find(({ name }) => name === 'storage')
    if (status?.enabled !== true || status.up !== false) return []
    const { reportFile, devices } = context.config.storage
    if (reportFile !== null) return report(context, reportFile)
    const found = await Promise.all(devices.map((path) => device(context, path)))
    return found.flat()
  },
}

const UNIT = 'chain-agent-storage'

const report = async ({ access }: PreflightContext, path: string): Promise<readonly Finding[]> => {
  const permission = await access.mayRead(path)
  if (permission !== 'none' && permission !== 'no') return []
  return [
    finding('storage report', 'warning', {
      says: permission === 'none' ? 'the storage report does not exist' : 'this user may not read the storage report',
      evidence: [`It should be at ${path} (storage.reportFile).`],
      advice:
        permission === 'none'
          ? [
              `See the unit that writes it: \`systemctl status ${UNIT}.timer ${UNIT}.service\`.`,
              `If it is not installed, take it from deploy/: \`sudo systemctl enable --now ${UNIT}.timer\`.`,
            ]
          : [`Make it readable for this user: the unit ${UNIT}.service in deploy/ writes it that way.`],
    }),
  ]
}

const device = async ({ access }: PreflightContext, path: string): Promise<readonly Finding[]> => {
  const permission = await access.mayRead(path)
  if (permission === 'none') {
    return [
      finding('database device', 'warning', {
        says: `there is no ${path}`,
        evidence: ['It is passed to the database tool (storage.devices).'],
        advice: [
          'See which device the node uses, and whether its link was created at boot: `lsblk -o NAME,SIZE,MODEL,FSTYPE` and `ls -l /dev/triedb`.',
          'If it has another name, set `storage.devices` in the configuration.',
        ],
      }),
    ]
  }
  if (permission !== 'no') return []
  return [
    finding('database device', 'warning', {
      says: `this user may not read ${path}`,
      evidence: ['The database tool opens it read-only.'],
      advice: [
        `Use the unit that may read it, and set \`storage.reportFile\`: \`sudo systemctl enable --now ${UNIT}.timer\` (deploy/).`,
        'Only this time: `sudo chain-agent check`.',
      ],
    }),
  ]
}
