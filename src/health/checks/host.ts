import { figure, joinList, percent, shortDuration } from '../../core/format.ts'
import { second } from '../../core/units.ts'
import { databaseUsedRatio, isSyncing } from '../../core/agreement.ts'
import { type Check, type Finding, finding } from '../finding.ts'
import { above, below, LIMITS } from '../limits.ts'
import { freeChunks } from '../facts.ts'

export const clock: Check = ({ known }) => {
  const offset = known.value('chain_host_clock_offset_seconds')
  const off = above(offset === undefined ? undefined : Math.abs(offset), LIMITS.clockOffset)
  const advice = ['See the state of the time service: `chronyc tracking` or `timedatectl timesync-status`.']
  if (off && offset !== undefined) {
    const ms = figure(Math.round(Math.abs(offset) * second))
    const says = `the clock is ${ms} ms ${offset > 0 ? 'ahead' : 'behind'}`
    return [finding('ChainClockDrift', { severity: off, says }, { advice })]
  }
  return known.value('chain_host_clock_synchronized') === 0
    ? [
        finding(
          'ChainClockUnsynchronised',
          { severity: 'warning', says: 'no time service synchronises the clock' },
          { advice },
        ),
      ]
    : []
}

export const drives: Check = ({ known }) => [
  ...known
    .series('chain_host_nvme_critical_warning')
    .filter(({ value }) => value > 0)
    .map(({ labels }) =>
      finding(
        'ChainDriveFailing',
        { severity: 'critical', says: `the drive ${labels['device']} reports that it is failing` },
        { advice: ['See its report: `smartctl -a DEVICE`. Replace it as soon as possible.'] },
      ),
    ),
  ...known.series('chain_host_nvme_temperature_celsius').flatMap(({ labels, value }) => {
    const hot = above(value, LIMITS.driveCelsius)
    const says = `the drive ${labels['device']} is at ${Math.round(value)} degrees Celsius`
    return hot ? [finding('ChainDriveHot', { severity: hot, says }, { advice: ['Check its cooling.'] })] : []
  }),
  ...known.series('chain_host_nvme_used_ratio').flatMap(({ labels, value }) => {
    const worn = above(value, LIMITS.driveWorn)
    const says = `the drive ${labels['device']} has used ${percent(value)} of its life`
    return worn ? [finding('ChainDriveWorn', { severity: worn, says }, { advice: ['Plan to replace it.'] })] : []
  }),
]

export const kernel: Check = ({ known }) => [
  ...(known.value('chain_host_kernel_blocked', { kernel: 'running' }) === 1
    ? [
        finding(
          'ChainKernelBlocked',
          { severity: 'critical', says: 'the running kernel is known to break this node software' },
          {
            advice: [
              'Set a maintenance window (`chain-agent maintenance start 30m --reason upgrade`), install another kernel and reboot.',
            ],
          },
        ),
      ]
    : []),
  ...(known.value('chain_host_kernel_blocked', { kernel: 'pending' }) === 1
    ? [
        finding(
          'ChainKernelBlocked',
          {
            severity: 'warning',
            says: 'the next reboot starts a kernel that is known to break this node software',
          },
          { advice: ['Remove it, or install a newer one, before the next reboot.'] },
        ),
      ]
    : []),
]

/** Open files of the node's processes: the default limit of 1,024 breaks the node. */
export const openFiles: Check = ({ known, prefix }) =>
  known.series('chain_service_max_file_descriptors').flatMap(({ labels, value }): readonly Finding[] => {
    const service = labels['service'] ?? ''
    const low = ['bft', 'execution', 'rpc'].includes(service) ? below(value, LIMITS.fileDescriptors) : undefined
    if (low) {
      const says = `${prefix ?? 'chain'}-${service} may open only ${figure(value)} files`
      const advice = ['Set LimitNOFILE=1048576 in a drop-in of the unit, and restart it.']
      return [finding('ChainFileDescriptorLimit', { severity: low, says }, { advice })]
    }
    const open = known.value('chain_service_open_file_descriptors', { service })
    const share = open === undefined || value === 0 ? undefined : open / value
    return share !== undefined && above(share, LIMITS.fileDescriptorsUsed)
      ? [
          finding('ChainFileDescriptorsUsed', {
            severity: 'warning',
            says: `${prefix ?? 'chain'}-${service} has ${percent(share)} of its allowed files open`,
          }),
        ]
      : []
  })

/** Host settings that cost blocks. */
export const tuning: Check = ({ known, at }) => {
  const slow = known
    .series('chain_host_governor_cpus')
    .filter(({ labels, value }) => labels['governor'] !== 'performance' && value > 0)
  const pages = known.value('chain_host_hugepages', { size: '2Mi', state: 'total' })
  const written = known.value('chain_host_file_modified_timestamp_seconds', { file: 'forkpoint' })
  const stale = written === undefined ? undefined : at / second - written
  const runs = known.value('chain_service_active', { service: 'bft' }) === 1 && !isSyncing(known)
  return [
    ...(slow.length > 0
      ? [
          finding(
            'ChainGovernor',
            {
              severity: 'warning',
              says: `CPUs use the governor ${joinList(slow.map(({ labels }) => labels['governor'] ?? ''))}`,
            },
            { advice: ['Set it to performance: `cpupower frequency-set -g performance`.'] },
          ),
        ]
      : []),
    ...(known.value('chain_host_smt_active') === 1
      ? [finding('ChainSmtActive', { severity: 'info', says: 'simultaneous multithreading is on' })]
      : []),
    ...(pages === 0
      ? [
          finding('ChainHugePagesMissing', {
            severity: 'warning',
            says: 'the kernel has no huge pages of 2 MiB reserved',
          }),
        ]
      : []),
    ...(runs && stale !== undefined && stale > LIMITS.forkpoint.warning
      ? [
          finding(
            'ChainForkpointStale',
            {
              severity: 'warning',
              says: `the forkpoint file is ${shortDuration(stale * second)} old`,
            },
            { advice: ['A restart starts from it: check that consensus can write its directory.'] },
          ),
        ]
      : []),
  ]
}

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
