import type { SimulatedNode } from '../subject.ts'
import type { Host } from './host.ts'

/** The files of the drive of the database, by path below the directory of the host. */
export const driveFiles = (node: SimulatedNode): Readonly<Record<string, string>> => {
  const found = driveAt(node.condition().host, node.now())
  if (!found) return {}
  return {
    'sys/class/nvme/nvme0/model': `${MODEL.padEnd(40)}\n`,
    'sys/class/nvme/nvme0/firmware_rev': `${FIRMWARE}\n`,
    'sys/class/nvme/nvme0/hwmon2/temp1_input': `${found.celsius * 1000 + 850}\n`,
    'smart/nvme0.json': renderHealth(found, writtenUnitsAt(node)),
  }
}

interface Drive {
  readonly celsius: number
  readonly criticalWarning: number
  readonly mediaErrors: number
  readonly usedPercent: number
}

/** A failing drive has one more media error in this interval. */
const MEDIA_ERROR_MS = 5000

/** Undefined if the drive is not on the bus. */
const driveAt = ({ drive }: Host, nowMs: number): Drive | undefined => {
  const variation = Math.floor(nowMs / 10_000) % 3
  const healthy = { celsius: 44 + variation, criticalWarning: 0, mediaErrors: 0, usedPercent: 7 }
  switch (drive.is) {
    case 'healthy':
      return healthy
    case 'hot':
      return { ...healthy, celsius: 79 + variation, criticalWarning: 2 }
    case 'failing': {
      const mediaErrors = 1 + Math.floor((nowMs - drive.fromMs) / MEDIA_ERROR_MS)
      return { ...healthy, criticalWarning: 4, mediaErrors, usedPercent: 98 }
    }
    case 'gone':
      return undefined
  }
}

/** Half a year: at 7 % used its endurance lasts 6.6 years more. */
const POWERED_HOURS = 4380
const WRITTEN_UNITS = 312_000_000
/** 20 MB/s. */
const UNITS_PER_SECOND = 40

const writtenUnitsAt = ({ now, timeline }: SimulatedNode): number =>
  WRITTEN_UNITS + Math.floor((now() - timeline.beginMs) / 1000) * UNITS_PER_SECOND

const MODEL = 'SIMULATED NVME 3840G'
const FIRMWARE = 'SIM1A2Q3'

/** The output of `smartctl -j -a /dev/nvme0`. */
const renderHealth = (drive: Drive, writtenUnits: number): string =>
  `${JSON.stringify(
    {
      json_format_version: [1, 0],
      smartctl: { version: [7, 4], exit_status: drive.criticalWarning === 0 ? 0 : 8 },
      device: { name: '/dev/nvme0', type: 'nvme', protocol: 'NVMe' },
      model_name: MODEL,
      firmware_version: FIRMWARE,
      smart_status: { passed: drive.criticalWarning === 0 },
      nvme_smart_health_information_log: {
        critical_warning: drive.criticalWarning,
        temperature: drive.celsius,
        available_spare: 100,
        percentage_used: drive.usedPercent,
        media_errors: drive.mediaErrors,
        data_units_written: writtenUnits,
        power_on_hours: POWERED_HOURS,
      },
    },
    null,
    2,
  )}\n`
