import { figure, size, count, share } from '../../core/format.ts'
import type { KERNELS } from '../../collectors/host/definition.ts'
import { driveFault } from '../../domain/drives.ts'
import { clockOf, filesystemsOf, portsOf } from '../facts.ts'
import { limitOf } from '../rules/index.ts'
import { type Fact, fact, iso, joined, timeWithAge } from './fact.ts'
import { group, type Section, summary, type View } from './section.ts'
import type { Readings } from '../../collectors/index.ts'

/** Why an aspect is unknown. */
const reasonFor = (view: View, aspect: string): string | undefined => {
  const seen = view.readings.host?.get(aspect)
  return seen?.samples.length === 0 ? (seen.state ?? undefined) : undefined
}

/** Aspects that always have a line. */
const SHOWN = ['kernel', 'kernel after a reboot', 'boot time', 'memory', 'clock', 'ports']

const milliseconds = (seconds: number): string => `${seconds > 0 ? '+' : ''}${(seconds * 1000).toFixed(1)} ms`

export const host: Section = {
  name: 'host',
  groups: [
    group('host', 'the host', (view) => [
      ...kernelFacts(view),
      ...memoryFacts(view),
      ...clockFacts(view),
      portFact(view),
      ...spaceFacts(view),
      ...driveFacts(view),
      ...unreadAspects(view),
    ]),
  ],
  summary: (view) => {
    const { known } = view
    const free = known.value('chain_host_memory_available_ratio')
    const { isSynchronized, offsetSeconds } = clockOf(known)
    const ports = portsOf(known)
    const exposed = ports?.exposed ?? []
    const isClockUnknown = isSynchronized === undefined && offsetSeconds === undefined
    const isBlocked = known.series('chain_host_kernel_blocked').some(({ value }) => value === 1)
    if (free === undefined && ports === undefined && isClockUnknown && !isBlocked) return null
    const isOff = isSynchronized === false || Math.abs(offsetSeconds ?? 0) > limitOf('ChainClockDrift', 'warning')
    return summary(
      [
        isBlocked ? 'known bad kernel' : null,
        ports === undefined ? 'ports unknown' : null,
        exposed.length === 0 ? null : `ports exposed: ${exposed.join(', ')}`,
        free === undefined ? null : `memory ${share(free)} free`,
        isClockUnknown ? 'clock unknown' : null,
        isSynchronized === undefined ? null : `clock ${isSynchronized ? 'synchronized' : 'NOT synchronized'}`,
        offsetSeconds === undefined ? null : `off by ${milliseconds(offsetSeconds)}`,
      ],
      isBlocked || isOff || exposed.length > 0 ? 'bad' : undefined,
    )
  },
}

const kernelFacts = (view: View): readonly Fact[] => {
  const { known } = view
  const releases = known.series('chain_host_kernel_info')
  const kernel = (which: (typeof KERNELS)[number], label: string): Fact => {
    const isBlocked = known.value('chain_host_kernel_blocked', { kernel: which }) === 1
    const found = releases.find(({ labels }) => labels['kernel'] === which)?.labels['release']
    return fact(['kernel', which], found, {
      label,
      text: (release) => `${release}${isBlocked ? ': known to be bad for nodes' : ''}`,
      tone: () => (isBlocked ? 'bad' : undefined),
      unknownReason: reasonFor(view, label),
    })
  }
  const bootedAt = known.value('chain_host_boot_timestamp_seconds')
  const throttles = known.value('chain_host_cpu_throttles_total')
  return [
    kernel('running', 'kernel'),
    kernel('pending', 'kernel after a reboot'),
    view.time('bootedAt', bootedAt && bootedAt * 1000, {
      label: 'booted',
      unknownReason: reasonFor(view, 'boot time'),
    }),
    ...known.series('chain_host_smt_active').map(({ value }) =>
      fact('simultaneousMultithreading', value === 1, {
        label: 'multithreading',
        text: (isOn) => (isOn ? 'on' : 'off'),
      }),
    ),
    ...known.series('chain_host_governor_cpus').map(({ labels, value }) =>
      fact(['governors', labels['governor'] ?? ''], value, {
        label: 'frequency governor',
        text: (cpus) => `${labels['governor']}, ${figure(cpus)} CPUs`,
      }),
    ),
    ...(throttles === undefined ? [] : [fact('cpuThrottles', throttles, { label: 'thermal throttling', text: times })]),
  ]
}

const times = (amount: number): string => (amount === 1 ? 'once' : `${figure(amount)} times`)

const memoryFacts = (view: View): readonly Fact[] => {
  const { known } = view
  const free = known.value('chain_host_memory_available_ratio')
  const bytes = known.value('chain_host_memory_available_bytes')
  const pages = known.series('chain_host_hugepages')
  const sizes = [...new Set(pages.map(({ labels }) => labels['size'] ?? ''))]
  return [
    fact('memoryAvailableBytes', bytes, {
      label: 'memory available',
      unknownReason: reasonFor(view, 'memory'),
      text: (amount) => [size(amount), free === undefined ? null : share(free)],
    }),
    ...sizes.map((one) => {
      const of = (samples: typeof pages) => samples.find(({ labels }) => labels['size'] === one)?.value
      const [total, unused] = [of(pages), of(known.series('chain_host_hugepages_free'))]
      return fact(['hugePages', one], total === undefined ? null : { total, free: unused ?? null }, {
        label: `huge pages of ${one}`,
        text: ({ total: all, free: left }) =>
          `${figure(all)}, ${left === null ? 'unknown' : figure(left)} of them free`,
      })
    }),
  ]
}

const clockFacts = (view: View): readonly Fact[] => {
  const why = reasonFor(view, 'clock')
  const { isSynchronized, offsetSeconds } = clockOf(view.known)
  return [
    fact('clockSynchronized', isSynchronized, {
      label: 'clock synchronized',
      unknownReason: why,
      tone: (kept) => (kept ? undefined : 'bad'),
    }),
    fact('clockOffsetSeconds', offsetSeconds, {
      label: 'clock ahead by',
      unknownReason: why,
      text: milliseconds,
      tone: (seconds) => (Math.abs(seconds) > limitOf('ChainClockDrift', 'warning') ? 'bad' : undefined),
    }),
  ]
}

const portFact = (view: View): Fact =>
  fact('exposedPorts', portsOf(view.known)?.exposed, {
    unknownReason: reasonFor(view, 'ports'),
    text: (ports) => ports.join(', ') || 'none',
    tone: (ports) => (ports.length > 0 ? 'bad' : undefined),
  })

/** Aspects that could not be read, with the reason. */
const unreadAspects = (view: View): readonly Fact[] =>
  [...(view.readings.host ?? [])]
    .filter(([aspect, { samples }]) => samples.length === 0 && !SHOWN.includes(aspect))
    .map(([aspect, { state }]) => fact<string>(['notSeen', aspect], state, { label: aspect, tone: () => 'quiet' }))

const spaceFacts = ({ known, time }: View): readonly Fact[] => [
  ...filesystemsOf(known).map(({ directory, sizeBytes, availableBytes: free, freeRatio: left }) => {
    const used = known.value('chain_host_directory_bytes', { directory })
    const value = { sizeBytes, availableBytes: free ?? null, directoryBytes: used ?? null }
    return fact(['directories', directory], value, {
      label: `space of ${directory}`,
      text: () => [
        free === undefined ? 'unknown' : `${size(free)} free of ${size(sizeBytes)}`,
        left === undefined ? null : share(left),
        used === undefined ? null : `files ${size(used)}`,
      ],
      tone: () => (left !== undefined && left < limitOf('ChainDiskFull', 'critical') ? 'bad' : undefined),
    })
  }),
  ...known.series('chain_host_file_modified_timestamp_seconds').map(({ labels, value }) =>
    time(['files', labels['file'] ?? '', 'writtenAt'], Math.round(value * 1000), {
      label: `file ${labels['file'] ?? ''}, written`,
    }),
  ),
]

const DAY_S = 86_400

const driveFacts = ({ known }: View): readonly Fact[] =>
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
    const fault = driveFault(drive.model ?? '', drive.firmware ?? '')
    const lasts = known.value('chain_host_nvme_endurance_eta_seconds', { device })
    return fact(['drives', device], drive, {
      label: `drive ${device}`,
      text: () => [
        drive.model,
        drive.firmware === null ? null : `firmware ${drive.firmware}`,
        temperatureCelsius === null ? null : `${temperatureCelsius.toFixed(1)} degrees C`,
        `critical warning ${criticalWarning === null ? 'unknown' : bitsOf(criticalWarning)}`,
        `media errors ${mediaErrors ?? 'unknown'}`,
        usedRatio === null ? null : `${share(usedRatio)} of its life used`,
        lasts === undefined ? null : `at that rate it lasts ${figure(Math.floor(lasts / DAY_S))} days`,
        fault === undefined ? null : `known to fail: ${fault}`,
      ],
      tone: () =>
        (criticalWarning ?? 0) > 0 || (mediaErrors ?? 0) > 0 || fault !== undefined ? ('bad' as const) : undefined,
    })
  })

const bitsOf = (warning: number): string => (warning === 0 ? 'none' : `bits ${warning}`)

type KeyFile = NonNullable<Readings['keys']>[number]

const nameOf = ({ key, kind }: KeyFile): string =>
  key === 'password' && kind === 'keystore' ? 'environment file' : `${key} ${kind}`

const toneOf = ({ state }: KeyFile) =>
  state === 'ok' ? undefined : state === null ? ('unknown' as const) : ('bad' as const)

/** The number of files that the overview names. */
const MAX_NAMED = 2

export const keys: Section = {
  name: 'keys',
  groups: [
    group('keys', 'the key files', (view) => {
      const files = view.readings.keys ?? []
      if (files.length === 0) return [fact('files', null)]
      return files.map((file) => {
        const { key, kind, state, why, writtenAt, copies } = file
        const value = { state, why, writtenAt: iso(writtenAt), copies }
        return fact([kind ?? '', key ?? ''], value, {
          label: nameOf(file),
          text: () => [
            `${state ?? 'unknown'}${why === null ? '' : `: ${why}`}`,
            writtenAt === null ? null : `written ${timeWithAge(view.at)(writtenAt)}`,
            copies === null || copies === 0 ? null : `${copies} earlier`,
          ],
          tone: () => toneOf(file),
        })
      })
    }),
  ],
  summary: (view) => {
    const files = view.readings.keys ?? []
    if (files.length === 0) return null
    const open = files.filter(({ state }) => state !== 'ok')
    if (open.length === 0) return summary(`all ${count(files.length, 'file')} ok`)
    const states = [...new Set(open.map(({ state }) => state ?? 'unknown'))]
    return summary(
      joined(
        open.length <= MAX_NAMED
          ? open.map((file) => `${nameOf(file)} ${file.state ?? 'unknown'}`)
          : states.map((one) => {
              const number = open.filter(({ state }) => (state ?? 'unknown') === one).length
              return `${number} of ${files.length} ${one}`
            }),
      ),
      open.some((file) => toneOf(file) === 'bad') ? 'bad' : 'unknown',
    )
  },
}
