interface DriveFault {
  readonly model: RegExp
  /** Null: every firmware. */
  readonly firmware: string | null
  readonly why: string
  readonly advice: string
  readonly source: string
}

/** Drives that are publicly known to fail, each with its source. */
const KNOWN: readonly DriveFault[] = [
  {
    model: /^nextorage\b/i,
    firmware: null,
    why: 'under load it can overheat and stop responding until the host is rebooted',
    advice: 'Plan to replace it by a model that the hardware requirements of the node name.',
    source: 'https://docs.monad.xyz/node-ops/hardware-requirements',
  },
  {
    model: /^samsung ssd 980 pro\b/i,
    firmware: '3B2QGXA7',
    why: 'with this firmware it can become read-only, for good',
    advice: 'Update its firmware to 5B2QGXA7 or later, in a maintenance window: the drive is reset.',
    source: 'https://www.pugetsystems.com/support/guides/critical-samsung-ssd-firmware-update/',
  },
]

/** What is known against a drive; null if nothing is. */
export const driveFault = (model: string, firmware: string): Omit<DriveFault, 'model' | 'firmware'> | null =>
  KNOWN.find((one) => one.model.test(model) && (one.firmware === null || one.firmware === firmware)) ?? null
