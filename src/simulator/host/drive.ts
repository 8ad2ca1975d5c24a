import type { Host } from '../scenario/host.ts'

interface Drive {
  readonly celsius: number
  readonly criticalWarning: number
  readonly mediaErrors: number
  readonly usedPercent: number
}

/** One more block that cannot be read, every so often. */
const MEDIA_ERROR_MS = 5000

/** Undefined where the drive is not on the bus. */
export const driveAt = ({ drive }: Host, nowMs: number): Drive | undefined => {
  const wobble = Math.floor(nowMs / 10_000) % 3
  const well = { celsius: 44 + wobble, criticalWarning: 0, mediaErrors: 0, usedPercent: 7 }
  switch (drive.is) {
    case 'well': {
      return well
    }
    case 'hot': {
      return { ...well, celsius: 79 + wobble, criticalWarning: 2 }
    }
    case 'failing': {
      const mediaErrors = 1 + Math.floor((nowMs - drive.fromMs) / MEDIA_ERROR_MS)
      return { ...well, criticalWarning: 4, mediaErrors, usedPercent: 98 }
    }
    case 'gone': {
      return undefined
    }
  }
}

export const MODEL = 'SIMULATED NVME 3840G'
export const FIRMWARE = 'SIM1A2Q3'

/** What `smartctl -j -a /dev/nvme0` says. */
export const renderHealth = (drive: Drive): string =>
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
      },
    },
    null,
    2,
  )}\n`
