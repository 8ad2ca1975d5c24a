import { z } from 'zod'
import { isSyncing, databaseUsedRatio } from '../../core/agreement.ts'
import { freeChunks } from '../facts.ts'
import type { Check } from '../finding.ts'
import { LIMITS } from '../limits.ts'
import { list, percent, roughly } from '../words.ts'
import { above, below, finding } from './make.ts'
import { second } from '../../core/units.ts'

/** The database of the node. It compacts itself at 80 %: to be above is normal, to stay far above is not. */
export const storage: Check = ({ known }) => {
  const used = databaseUsedRatio(known)
  const free = freeChunks(known)
  const full = above(used, LIMITS.storageUsed)
  const short = below(free, LIMITS.freeChunks)
  if (full && used !== undefined) {
    return [
      finding(
        'ChainStorageFull',
        { severity: full, says: `the database is ${percent(used)} full` },
        {
          evidence: [
            ...(free === undefined ? [] : [`${percent(free)} of its chunks are free.`]),
            'At 80% it begins to shorten its history by itself; here that is not enough.',
          ],
          advice: [
            'See what fills it: `chain-agent status storage`.',
            'Give it a larger device, or restore a snapshot onto an empty one, before it is full.',
          ],
        },
      ),
    ]
  }
  if (short && free !== undefined) {
    return [
      finding(
        'ChainStorageFreeChunksLow',
        { severity: short, says: `only ${percent(free)} of the chunks of the database are free` },
        { advice: ['See what fills it: `chain-agent status storage`.'] },
      ),
    ]
  }
  const left = known.value('chain_storage_seconds_until_compaction')
  return left !== undefined && left > 0 && left < SOON_S && !isSyncing(known)
    ? [
        finding('ChainStorageCompactionSoon', {
          severity: 'info',
          says: `the database begins to shorten its history in ${roughly(left * second)}`,
        }),
      ]
    : []
}

const SOON_S = 172_800

/** File systems of the host. */
export const disks: Check = ({ known }) => {
  const full = known.series('chain_host_filesystem_size_bytes').flatMap(({ labels, value }) => {
    const directory = labels['directory'] ?? ''
    const available = known.value('chain_host_filesystem_available_bytes', { directory })
    const share = available === undefined || value === 0 ? undefined : available / value
    return share !== undefined && below(share, LIMITS.diskFree) ? [{ directory, share }] : []
  })
  const [worst] = full.toSorted((a, b) => a.share - b.share)
  if (!worst) return []
  return [
    finding(
      'ChainDiskFull',
      {
        severity: 'critical',
        says: `the file system of ${worst.directory} has ${percent(worst.share)} left`,
      },
      {
        evidence: full.map(({ directory, share }) => `${directory}: ${percent(share)} free.`),
        advice: [
          'Make room: `journalctl --vacuum-size=1G`, old core dumps, old packages; not the files of the node itself.',
        ],
      },
    ),
  ]
}

const statesSchema = z.record(z.string(), z.object({ state: z.string() }))

/** Directories that the agent is to watch, and does not find: gone, or never to be seen with its rights. */
export const places: Check = ({ collectors }) => {
  const told = collectors.find(({ name }) => name === 'host')
  const { data = {} } = statesSchema.safeParse(told?.reading)
  const missing = Object.entries(data)
    .filter(
      ([aspect, { state }]) => aspect.startsWith('file system of') && state.startsWith('not found'),
    )
    .map(([aspect]) => aspect.replace('file system of ', ''))
  return missing.length === 0
    ? []
    : [
        finding(
          'ChainDirectoryGone',
          {
            severity: 'info',
            says: `the ${missing.length === 1 ? 'directory' : 'directories'} of ${list(missing)} cannot be seen`,
          },
          {
            advice: [
              'If it was there before: see whether its file system is mounted, `findmnt`.',
              'If the agent never saw it: give it the rights of docs/host.md.',
            ],
          },
        ),
      ]
}
