import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CHAIN_ID } from './rpc/rpc-methods.ts'

const SECOND = 1000
const DAY = 86_400 * SECOND

/**
 * Writes the forks of the rehearsal's network, for the agent's `version.forksFile`: one that is long over,
 * and of which nobody need hear after the 90th second; one for which the last day begins with the 30th.
 */
export const writeForkFile = async (directory: string, beginMs: number): Promise<string> => {
  const file = join(directory, 'forks.yaml')
  const at = (ms: number): string => new Date(Math.ceil(ms / SECOND) * SECOND).toISOString()
  await writeFile(
    file,
    [
      `${CHAIN_ID}:`,
      '  - name: first-light',
      '    kind: release',
      `    activation: ${at(beginMs - 30 * DAY + 90 * SECOND)}`,
      '    minimumVersion: 0.15.0',
      '  - name: aurora',
      '    kind: fork',
      `    activation: ${at(beginMs + DAY + 30 * SECOND)}`,
      '    minimumVersion: 0.16.1',
      '    timeline: page',
      '',
    ].join('\n'),
  )
  return file
}
