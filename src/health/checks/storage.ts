import { databaseUsedRatio, isSyncing } from '../../core/agreement.ts'
import { second } from '../../core/units.ts'
import { freeChunks } from '../facts.ts'
import { type Check, finding } from '../finding.ts'
import { above, below, LIMITS } from '../limits.ts'
import { joinList, percent, shortDuration } from '../format.ts'

/** The database of the node. It compacts itself at 80%: use above that is normal, use far above it is not. */
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
            'At 80% it begins to shorten its history by itself, which has not been enough.',
          ],
          advice: [
            'See what uses the space: `chain-agent status storage`.',
            'Before it is full, give it a larger device or restore a snapshot onto an empty one.',
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
        { advice: ['See what uses the space: `chain-agent status storage`.'] },
      ),
    ]
  }
  const left = known.value('chain_storage_seconds_until_compaction')
  return left !== undefined && left > 0 && left < SOON_S && !isSyncing(known)
    ? [
        finding('ChainStorageCompactionSoon', {
          severity: 'info',
          says: `the database begins to shorten its history in ${shortDuration(left * second)}`,
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
          'Free space: `journalctl --vacuum-size=1G`, old core dumps, old packages. Do not delete files of the node.',
        ],
      },
    ),
  ]
}

/** Directories that the agent should monitor and does not find: removed, not mounted, or not visible with its permissions. */
export const directories: Check = ({ readings: { host } }) => {
  const missing = [...(host ?? [])]
    .filter(([aspect, { state }]) => aspect.startsWith('file system of') && state?.startsWith('not found'))
    .map(([aspect]) => aspect.replace('file system of ', ''))
  return missing.length === 0
    ? []
    : [
        finding(
          'ChainDirectoryGone',
          {
            severity: 'info',
            says: `the ${missing.length === 1 ? 'directory' : 'directories'} of ${joinList(missing)} cannot be found`,
          },
          {
            advice: [
              'If it existed before, check whether its file system is mounted: `findmnt`.',
              'If the agent never found it, grant it the permissions described in docs/host.md.',
            ],
          },
        ),
      ]
}
