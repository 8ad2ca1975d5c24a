import { z } from 'zod'
import { ParseError } from '../core/errors.ts'
import { type Quantity, withinBounds } from '../core/bounds.ts'
import { parseJson, withoutMinus } from '../core/json.ts'

/** The health of an NVMe drive as the drive reports it. Null is a value that it does not report. */
export type DriveHealth = ReturnType<typeof parseDriveHealth>

const text = z.string().nullish()
// A number that JavaScript cannot represent exactly is left out instead of rounded.
const integer = z.int().overwrite(withoutMinus).nullish().catch(null)
const bounded = (quantity: Quantity) => integer.transform((value) => withinBounds(quantity, value))

const reportSchema = z.object({
  smartctl: z.object({ version: z.array(z.number()) }),
  model_name: text,
  firmware_version: text,
  nvme_smart_health_information_log: z
    .object({
      critical_warning: bounded('driveWarning'),
      temperature: bounded('celsius'),
      percentage_used: bounded('driveEndurancePercent'),
      media_errors: bounded('driveErrors'),
      data_units_written: bounded('driveDataUnits'),
      power_on_hours: bounded('driveHours'),
    })
    .nullish(),
})

/** Parses the output of `smartctl -j -a DEVICE`. Throws a ParseError. */
export const parseDriveHealth = (json: string) => {
  const report = reportSchema.safeParse(parseJson('the report of smartctl', json))
  if (!report.success) throw new ParseError('the report of smartctl', 'its JSON', json)
  const { model_name: model, firmware_version: firmware } = report.data
  const health = report.data.nvme_smart_health_information_log
  const used = health?.percentage_used ?? null
  return {
    model: model?.trim() || null,
    firmware: firmware?.trim() || null,
    /** Bits: 1 spare low, 2 temperature, 4 unreliable, 8 read-only, 16 backup of memory failed. */
    criticalWarning: health?.critical_warning ?? null,
    celsius: health?.temperature ?? null,
    mediaErrors: health?.media_errors ?? null,
    /** Used share of the endurance that the manufacturer specifies; can exceed 1. */
    usedRatio: used === null ? null : used / 100,
    /** Thousands of blocks of 512 bytes, by the NVMe specification. */
    dataUnitsWritten: health?.data_units_written ?? null,
    poweredHours: health?.power_on_hours ?? null,
  }
}
