import { resolvePath } from '../../domain/key-paths.ts'
import { LIMITS } from '../../core/limits.ts'
import { pastTime, withinBounds } from '../../core/bounds.ts'
import { inSeconds, minute } from '../../core/units.ts'
import { sample, type Sample, sampleIfKnown } from '../../core/metric.ts'
import type { FileTree } from '../../sources/file-tree.ts'
import { type CheckResult, type HostCheck, type HostUses, KNOWN, NOT_AVAILABLE } from './host-check.ts'
import { ifUnreadable } from '../shared/unit-logs.ts'
import { parseTemperature, parseWord } from '../../parsers/kernel-files.ts'
import { parseStatesyncThreshold } from '../../parsers/validators.ts'
import { type DriveHealth, parseDriveHealth } from '../../parsers/smartctl.ts'

/** Files that a healthy node rewrites, and the configuration that the operator edits. */
const FILES = {
  node: 'config/node.toml',
  forkpoint: 'config/forkpoint/forkpoint.toml',
  validators: 'config/validators/validators.toml',
} as const

const MISSING =
  'not found; correct the path or the permissions, or restart the agent if it was created again (docs/how-to/host.md)'

/** The ledger of a running node has about 200,000 files, of which each minute reads 20,000: that is not a failure. */
const INCOMPLETE = `${NOT_AVAILABLE}: its many files are being summed`

/** As in the alert ChainDiskFull. */
const FULL_BELOW = 0.05

/** Directories that grow, and files that the node depends on. Of a path of `fileSystems`, only the space is measured. */
export const directoryChecks = (uses: HostUses): readonly HostCheck[] => {
  const { host, nodeDirectory, nodeFiles, directories, fileSystems, readPrefix, keyFiles } = uses
  const { space } = host
  const readPath = async (template: string, signal: AbortSignal): Promise<string> =>
    resolvePath(template, { prefix: (await readPrefix(signal)).word, files: keyFiles })

  const fileSystemCheck = (directory: string, path: string): HostCheck => ({
    name: `file system of ${directory}`,
    read: async ({ signal }) => {
      const fileSystem = await space.fileSystem(await readPath(path, signal))
      if (fileSystem === null) return MISSING
      const sizeBytes = withinBounds('sizeBytes', fileSystem.sizeBytes)
      const free = withinBounds('bytes', fileSystem.availableBytes)
      const availableBytes = sizeBytes !== null && free !== null && free > sizeBytes ? null : free
      const isFull = Number(availableBytes ?? sizeBytes) < Number(sizeBytes) * FULL_BELOW
      return {
        samples: [
          ...sampleIfKnown('chain_host_filesystem_size_bytes', sizeBytes, { directory }),
          ...sampleIfKnown('chain_host_filesystem_available_bytes', availableBytes, { directory }),
        ],
        state: isFull ? `less than ${FULL_BELOW * 100} % free` : KNOWN,
      }
    },
  })

  const sizeCheck = (directory: string, path: string): HostCheck => ({
    name: `directory ${directory}`,
    every: minute,
    read: async ({ signal }) => {
      const bytes = await space.bytesBelow(await readPath(path, signal), signal)
      if (bytes === null) return MISSING
      if (bytes === 'incomplete') return INCOMPLETE
      return [sample('chain_host_directory_bytes', bytes, { directory })]
    },
  })

  const fileCheck = (file: string, path: string): HostCheck => ({
    name: `file ${file}`,
    read: async ({ clock, signal }) => {
      const at = await space.modifiedAt(await readPath(`${nodeDirectory}/${path}`, signal))
      if (at === null) return MISSING
      const modifiedAt = pastTime(at, clock.now())
      return sampleIfKnown('chain_host_file_modified_timestamp_seconds', inSeconds(modifiedAt), { file })
    },
  })

  /** Checks the setting from which the node derives its distances. The node reads its file only when it starts. */
  const settingCheck: HostCheck = {
    name: 'statesync_threshold',
    every: minute,
    read: async ({ signal }) => {
      const text = await nodeFiles.read(await readPath(`${nodeDirectory}/${FILES.node}`, signal), LIMITS.set.length)
      return text === null ? MISSING : [sample('chain_node_statesync_threshold_blocks', parseStatesyncThreshold(text))]
    },
  }

  return [
    ...Object.entries(directories).flatMap(([label, path]) => [fileSystemCheck(label, path), sizeCheck(label, path)]),
    ...[...new Set(fileSystems)].map((path) => fileSystemCheck(path, path)),
    ...Object.entries(FILES).map(([file, path]) => fileCheck(file, path)),
    settingCheck,
  ]
}

/** The unit writes every minute; a report older than this is ignored. In milliseconds. */
const MAX_AGE = 5 * minute
const REPORT_BYTES = 1024 * 1024
const NVME = 'class/nvme'

/** The NVMe drives: identity and temperature from the kernel, health from the reports of smartctl. */
export const driveChecks = ({ host: { sysfs, space, health }, clock }: HostUses): readonly HostCheck[] => {
  const healthOf = async (device: string): Promise<readonly Sample[] | string | null> => {
    if (health === null) return null
    const file = `${device}.json`
    const at = await space.modifiedAt(`${health.directory}/${file}`)
    const writtenAt = typeof at === 'number' ? pastTime(at, clock.now()) : null
    if (writtenAt === null || clock.now() - writtenAt > MAX_AGE) return null
    const text = await health.tree.read(file, REPORT_BYTES)
    if (text === null) return null
    const samples = healthSamples(device, parseDriveHealth(text))
    return samples.length === 0 ? NO_HEALTH : samples
  }
  return [
    { name: 'drives', read: () => forEachDrive(sysfs, 'cannot be read', (device) => identity(sysfs, device)) },
    {
      name: 'temperature of drives',
      read: async () =>
        withDevices(
          await forEachDrive(sysfs, 'not available', (device) => temperature(sysfs, device)),
          'hot',
          ({ name, value }) => name === 'chain_host_nvme_temperature_celsius' && value >= HOT_CELSIUS,
        ),
    },
    {
      name: 'health of drives',
      read: async () =>
        health === null
          ? NOT_SET
          : withDevices(
              await forEachDrive(sysfs, NO_REPORT, healthOf),
              'failing',
              ({ name, value }) => name === 'chain_host_nvme_critical_warning' && value > 0,
            ),
    },
  ]
}

/** As in the alert ChainHeat.drive. */
const HOT_CELSIUS = 70

/** If a sample of any drive is a problem, the state lists these drives. */
const withDevices = (result: CheckResult, problem: string, isProblem: (one: Sample) => boolean): CheckResult => {
  const devices = result.samples.filter(isProblem).map(({ labels }) => labels['device'])
  return devices.length === 0 ? result : { ...result, state: `${problem}: ${devices.join(', ')}` }
}

/** Reads each drive independently. `read` returns null if the drive has no value, or the reason as a text. */
const forEachDrive = async (
  sysfs: FileTree,
  missing: string,
  read: (device: string) => Promise<readonly Sample[] | string | null>,
): Promise<CheckResult> => {
  const devices = ((await sysfs.list(NVME)) ?? []).filter((name) => /^nvme\d+$/.test(name))
  const samples: Sample[] = []
  const withoutValue = new Map<string, readonly string[]>()
  for (const device of devices.toSorted()) {
    const found = await read(device).catch(ifUnreadable)
    if (found === undefined || found === null || typeof found === 'string') {
      const reason = found ?? missing
      withoutValue.set(reason, [...(withoutValue.get(reason) ?? []), device])
    } else samples.push(...found)
  }
  const reasons = [...withoutValue].map(([reason, drives]) => `${drives.join(', ')}: ${reason}`)
  if (reasons.length > 0) return { samples, state: reasons.join('; ') }
  return { samples, state: samples.length === 0 ? NOT_AVAILABLE : KNOWN }
}

const NOT_SET = 'not known: host.smartDirectory is not set (docs/how-to/host.md)'
const NO_REPORT = 'no fresh report; see `systemctl status chain-agent-smart.timer chain-agent-smart.service`'

/** For example a drive on another bus, or one that did not respond to smartctl. */
const NO_HEALTH = 'the report contains no health data'

const identity = async (sysfs: FileTree, device: string): Promise<readonly Sample[]> => {
  const readWord = async (file: string): Promise<string> =>
    parseWord(`${file} of ${device}`, (await sysfs.read(`${NVME}/${device}/${file}`)) ?? '')
  const [model, firmware] = [await readWord('model'), await readWord('firmware_rev')]
  return [sample('chain_host_nvme_info', 1, { device, model, firmware })]
}

/** The directory of the sensor depends on the kernel version: below the drive, or below its bus device. */
const temperature = async (sysfs: FileTree, device: string): Promise<readonly Sample[] | null> => {
  for (const directory of ['', '/hwmon', '/device/hwmon']) {
    const at = `${NVME}/${device}${directory}`
    const sensors = ((await sysfs.list(at)) ?? []).filter((name) => /^hwmon\d+$/.test(name))
    for (const sensor of sensors) {
      const text = await sysfs.read(`${at}/${sensor}/temp1_input`)
      const celsius = text === null ? null : parseTemperature(`the temperature of ${device}`, text)
      if (celsius !== null) return [sample('chain_host_nvme_temperature_celsius', celsius, { device })]
    }
  }
  return null
}

const DATA_UNIT_BYTES = 512_000n
const HOUR_S = 3600

const writtenBytes = ({ dataUnitsWritten }: DriveHealth): bigint | null =>
  dataUnitsWritten === null ? null : BigInt(dataUnitsWritten) * DATA_UNIT_BYTES

/** Below this the percentage that the drive reports is too coarse for an estimate: its steps are a fifth of it, or more. */
const MIN_USED = 0.05

/** The time until the rated endurance is used, at the mean rate since the drive was first powered on. */
const enduranceEta = ({ usedRatio, poweredHours }: DriveHealth): number | null =>
  // Some drives do not count their hours, and report 0.
  usedRatio === null || poweredHours === null || poweredHours === 0 || usedRatio < MIN_USED
    ? null
    : Math.max(0, (poweredHours * HOUR_S * (1 - usedRatio)) / usedRatio)

const healthSamples = (device: string, report: DriveHealth): readonly Sample[] => [
  ...sampleIfKnown('chain_host_nvme_critical_warning', report.criticalWarning, { device }),
  ...sampleIfKnown('chain_host_nvme_media_errors_total', report.mediaErrors, { device }),
  ...sampleIfKnown('chain_host_nvme_used_ratio', report.usedRatio, { device }),
  ...sampleIfKnown('chain_host_nvme_written_bytes_total', writtenBytes(report), { device }),
  ...sampleIfKnown('chain_host_nvme_endurance_eta_seconds', enduranceEta(report), { device }),
]
