import type { Clock } from '../../core/clock.ts'
import { ParseError, SourceError } from '../../core/errors.ts'
import { minute } from '../../core/units.ts'
import { type Sample, sample, sampleIfKnown } from '../../core/metric.ts'
import { parseTemperature, parseWord } from '../../parsers/kernel-files.ts'
import { type DriveHealth, parseDriveHealth } from '../../parsers/smartctl.ts'
import type { FileTree } from '../../sources/file-tree.ts'
import type { DiskUsage } from '../../sources/disk-usage.ts'
import { type Aspect, createAspect, KNOWN, NOT_TOLD, type Sight } from './aspect.ts'

interface Parts {
  readonly sysfs: FileTree
  readonly space: DiskUsage
  readonly clock: Clock
  /** Where a privileged unit leaves what the drives say of their health. */
  readonly health: { readonly directory: string; readonly tree: FileTree } | null
  readonly timeout: number
}

/** The unit writes every minute; a report older than this, in milliseconds, tells nothing of now. */
const MAX_AGE = 5 * minute
const REPORT_BYTES = 1024 * 1024
const NVME = 'class/nvme'

/** The NVMe drives: identity and temperature from the kernel, health from the reports of smartctl. */
export const driveAspects = (parts: Parts): readonly Aspect[] => {
  const { sysfs, timeout } = parts
  return [
    createAspect({
      name: 'drives',
      timeout,
      read: () => ofEach(sysfs, 'cannot be read', (device) => identity(sysfs, device)),
    }),
    createAspect({
      name: 'temperature of drives',
      timeout,
      read: async () =>
        named(
          await ofEach(sysfs, 'not told', (device) => temperature(sysfs, device)),
          'hot',
          ({ name, value }) =>
            name === 'chain_host_nvme_temperature_celsius' && value >= HOT_CELSIUS,
        ),
    }),
    createAspect({
      name: 'health of drives',
      timeout,
      read: async () =>
        parts.health === null
          ? { samples: [], state: NOT_SET }
          : named(
              await ofEach(sysfs, NO_REPORT, (device) => healthOf(parts, device)),
              'failing',
              ({ name, value }) => name === 'chain_host_nvme_critical_warning' && value > 0,
            ),
    }),
  ]
}

/** As in the alert ChainDriveHot. */
const HOT_CELSIUS = 70

/** With a state that names the drives that are in trouble, if there are any. */
const named = (sight: Sight, trouble: string, isTrouble: (one: Sample) => boolean): Sight => {
  const devices = sight.samples.filter(isTrouble).map(({ labels }) => labels['device'])
  return devices.length === 0 ? sight : { ...sight, state: `${trouble}: ${devices.join(', ')}` }
}

/** Drive by drive: one that fails says nothing of the others. Null is a drive that does not tell, a text one that tells why. */
const ofEach = async (
  sysfs: FileTree,
  complaint: string,
  read: (device: string) => Promise<readonly Sample[] | string | null>,
): Promise<Sight> => {
  const devices = ((await sysfs.list(NVME)) ?? []).filter((name) => /^nvme\d+$/.test(name))
  const samples: Sample[] = []
  const lacking = new Map<string, readonly string[]>()
  for (const device of devices.toSorted()) {
    const found = await read(device).catch(nullIfOurs)
    if (found === null || typeof found === 'string') {
      const why = found ?? complaint
      lacking.set(why, [...(lacking.get(why) ?? []), device])
    } else samples.push(...found)
  }
  const told = [...lacking].map(([why, which]) => `${which.join(', ')}: ${why}`)
  if (told.length > 0) return { samples, state: told.join('; ') }
  return { samples, state: samples.length === 0 ? NOT_TOLD : KNOWN }
}

const nullIfOurs = (error: unknown): null => {
  if (error instanceof SourceError || error instanceof ParseError) return null
  throw error
}

const NOT_SET = 'not known: host.smartDirectory is not set (docs/host.md)'
const NO_REPORT =
  'no fresh report; see `systemctl status chain-agent-smart.timer chain-agent-smart.service`'

/** As of a drive on another bus, or of one that did not answer smartctl. */
const NO_HEALTH = 'no report with health in it'

const identity = async (sysfs: FileTree, device: string): Promise<readonly Sample[]> => {
  const word = async (file: string): Promise<string> =>
    parseWord(`${file} of ${device}`, (await sysfs.read(`${NVME}/${device}/${file}`)) ?? '')
  const [model, firmware] = [await word('model'), await word('firmware_rev')]
  return [sample('chain_host_nvme_info', 1, { device, model, firmware })]
}

/** Where the sensor hangs has changed with the years: below the drive, or below its place on the bus. */
const temperature = async (sysfs: FileTree, device: string): Promise<readonly Sample[] | null> => {
  for (const directory of ['', '/hwmon', '/device/hwmon']) {
    const at = `${NVME}/${device}${directory}`
    const sensors = ((await sysfs.list(at)) ?? []).filter((name) => /^hwmon\d+$/.test(name))
    for (const sensor of sensors) {
      const text = await sysfs.read(`${at}/${sensor}/temp1_input`)
      if (text !== null) {
        const celsius = parseTemperature(`the temperature of ${device}`, text)
        return [sample('chain_host_nvme_temperature_celsius', celsius, { device })]
      }
    }
  }
  return null
}

const healthOf = async (
  { health, space, clock }: Parts,
  device: string,
): Promise<readonly Sample[] | string | null> => {
  if (health === null) return null
  const file = `${device}.json`
  const at = await space.modifiedAt(`${health.directory}/${file}`)
  if (typeof at !== 'number' || clock.now() - at > MAX_AGE) return null
  const text = await health.tree.read(file, REPORT_BYTES)
  if (text === null) return null
  const samples = healthSamples(device, parseDriveHealth(text))
  return samples.length === 0 ? NO_HEALTH : samples
}

const healthSamples = (
  device: string,
  { criticalWarning, mediaErrors, usedRatio }: DriveHealth,
): readonly Sample[] => [
  ...sampleIfKnown('chain_host_nvme_critical_warning', criticalWarning, { device }),
  ...sampleIfKnown('chain_host_nvme_media_errors_total', mediaErrors, { device }),
  ...sampleIfKnown('chain_host_nvme_used_ratio', usedRatio, { device }),
]
