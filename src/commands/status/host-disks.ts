import { size } from '../../core/format.ts'
import { LIMITS } from '../../health/limits.ts'
import { type Fact, fact, momentFact } from './fact.ts'
import { joined, type View } from './section.ts'
import { share } from './texts.ts'

export const spaceFacts = ({ known, at }: View): readonly Fact[] => [
  ...known.series('chain_host_filesystem_size_bytes').map(({ labels, value: sizeBytes }) => {
    const directory = labels['directory'] ?? ''
    const free = known.value('chain_host_filesystem_available_bytes', { directory })
    const used = known.value('chain_host_directory_bytes', { directory })
    const left = free === undefined || sizeBytes === 0 ? undefined : free / sizeBytes
    return fact(
      ['directories', directory],
      { sizeBytes, availableBytes: free ?? null, directoryBytes: used ?? null },
      {
        label: `space of ${directory}`,
        text: () =>
          joined([
            free === undefined ? 'unknown' : `${size(free)} free of ${size(sizeBytes)}`,
            left === undefined ? null : share(left),
            used === undefined ? null : `its files ${size(used)}`,
          ]) ?? '',
        tone: () => (left !== undefined && left < LIMITS.diskFree.critical ? 'bad' : undefined),
      },
    )
  }),
  ...known.series('chain_host_file_modified_timestamp_seconds').map(({ labels, value }) =>
    momentFact(['files', labels['file'] ?? '', 'writtenAt'], Math.round(value * 1000), {
      label: `file ${labels['file'] ?? ''}, written`,
      now: at,
    }),
  ),
]

export const driveFacts = ({ known }: View): readonly Fact[] =>
  known.series('chain_host_nvme_info').map(({ labels }) => {
    const device = labels['device'] ?? ''
    const drive = {
      model: labels['model'] ?? null,
      firmware: labels['firmware'] ?? null,
      temperatureCelsius: known.value('chain_host_nvme_temperature_celsius', { device }) ?? null,
      criticalWarning: known.value('chain_host_nvme_critical_warning', { device }) ?? null,
      mediaErrors: known.value('chain_host_nvme_media_errors_total', { device }) ?? null,
      usedRatio: known.value('chain_host_nvme_used_ratio', { device }) ?? null,
    }
    const { criticalWarning, mediaErrors, temperatureCelsius, usedRatio } = drive
    return fact(['drives', device], drive, {
      label: `drive ${device}`,
      text: () =>
        joined([
          drive.model,
          drive.firmware === null ? null : `firmware ${drive.firmware}`,
          temperatureCelsius === null ? null : `${temperatureCelsius.toFixed(1)} degrees C`,
          `critical warning ${criticalWarning === null ? 'unknown' : bitsOf(criticalWarning)}`,
          `media errors ${mediaErrors ?? 'unknown'}`,
          usedRatio === null ? null : `${share(usedRatio)} of its life used`,
        ]) ?? '',
      tone: () =>
        (criticalWarning ?? 0) > 0 || (mediaErrors ?? 0) > 0 ? ('bad' as const) : undefined,
    })
  })

const bitsOf = (warning: number): string => (warning === 0 ? 'none' : `bits ${warning}`)
