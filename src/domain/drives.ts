interface DriveFault {
  readonly model: RegExp
  /** Null: every firmware. */
  readonly firmware: string | null
  /** What happens, and what to do. */
  readonly why: string
}

/** Drives that are publicly known to fail, each with its source. */
const KNOWN: readonly DriveFault[] = [
  {
    // https://docs.monad.xyz/node-ops/hardware-requirements
    model: /^nextorage\b/i,
    firmware: null,
    why: 'under load it can overheat and stop responding until the host is rebooted; replace it by a model that the hardware requirements of the node name',
  },
  {
    // https://www.pugetsystems.com/support/guides/critical-samsung-ssd-firmware-update/
    model: /^samsung ssd 980 pro\b/i,
    firmware: '3B2QGXA7',
    why: 'with this firmware it can become read-only, for good; update it to 5B2QGXA7 or later in a maintenance window',
  },
]

/** What is known against a drive; undefined if nothing is. */
export const driveFault = (model: string, firmware: string): string | undefined =>
  KNOWN.find((one) => one.model.test(model) && (one.firmware === null || one.firmware === firmware))?.why
