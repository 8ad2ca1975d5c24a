import { figure, size } from '../../core/format.ts'
import type { KERNELS } from '../../collectors/host/definition.ts'
import { LIMITS } from '../../health/limits.ts'
import { driveFacts, spaceFacts } from './host-disks.ts'
import { type Fact, fact, momentFact } from './fact.ts'
import { joined, type Section, summary, type View } from './section.ts'
import { byName, listOf, shape, word } from './shapes.ts'
import { share } from './texts.ts'
import { z } from 'zod'

/** By aspect: what was seen is in the metrics, what could not be seen says why. */
const schema = byName(shape({ samples: listOf(z.unknown()), state: word }))

/** Why an aspect is unknown. */
const whyOf = (view: View, aspect: string): string | undefined => {
  const seen = view.reading('host', schema)[aspect]
  return seen?.samples.length === 0 ? (seen.state ?? undefined) : undefined
}

/** Aspects whose facts always have a line of their own. */
const SHOWN = ['kernel', 'kernel after a reboot', 'load', 'memory', 'clock', 'ports']

const milliseconds = (seconds: number): string =>
  `${seconds > 0 ? '+' : ''}${(seconds * 1000).toFixed(1)} ms`

export const host: Section = {
  name: 'host',
  about: 'kernel, memory, clock, ports, space, drives',
  groups: [
    {
      from: 'host',
      by: 'the host',
      facts: (view) => [
        ...kernelFacts(view),
        ...memoryFacts(view),
        ...clockFacts(view),
        portFact(view),
        ...spaceFacts(view),
        ...driveFacts(view),
        ...notTold(view),
      ],
    },
  ],
  summary: (view) => {
    const { known } = view
    const free = known.value('chain_host_memory_available_ratio')
    const isKept = known.value('chain_host_clock_synchronized')
    const offset = known.value('chain_host_clock_offset_seconds')
    const exposed = exposedPorts(view)
    const isBlocked = known.series('chain_host_kernel_blocked').some(({ value }) => value === 1)
    const isOff = isKept === 0 || Math.abs(offset ?? 0) > LIMITS.clockOffset.warning
    return summary(
      joined([
        isBlocked ? 'a kernel that is known to be bad' : null,
        exposed === null || exposed.length === 0 ? null : `ports exposed: ${exposed.join(', ')}`,
        free === undefined ? null : `memory ${share(free)} free`,
        isKept === undefined ? null : `clock ${isKept === 1 ? 'kept' : 'NOT kept'}`,
        offset === undefined ? null : `off by ${milliseconds(offset)}`,
      ]),
      isBlocked || isOff || (exposed !== null && exposed.length > 0) ? 'bad' : undefined,
    )
  },
}

const kernelFacts = (view: View): readonly Fact[] => {
  const { known, at } = view
  const releases = known.series('chain_host_kernel_info')
  const kernel = (which: (typeof KERNELS)[number], label: string): Fact => {
    const isBlocked = known.value('chain_host_kernel_blocked', { kernel: which }) === 1
    const found = releases.find(({ labels }) => labels['kernel'] === which)?.labels['release']
    return fact(['kernel', which], found, {
      label,
      text: (release) => `${release}${isBlocked ? ': known to be bad for nodes' : ''}`,
      tone: () => (isBlocked ? 'bad' : undefined),
      why: whyOf(view, label),
    })
  }
  const bootedAt = known.value('chain_host_boot_timestamp_seconds')
  const throttles = known.value('chain_host_cpu_throttles_total')
  return [
    kernel('running', 'kernel'),
    kernel('pending', 'kernel after a reboot'),
    momentFact('bootedAt', bootedAt === undefined ? null : bootedAt * 1000, {
      label: 'booted',
      now: at,
      why: whyOf(view, 'load'),
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
    ...(throttles === undefined
      ? []
      : [fact('cpuThrottles', throttles, { label: 'slowed down by heat', text: times })]),
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
      why: whyOf(view, 'memory'),
      text: (amount) => joined([size(amount), free === undefined ? null : share(free)]) ?? '',
    }),
    ...sizes.map((one) => {
      const of = (state: string) =>
        pages.find(({ labels }) => labels['size'] === one && labels['state'] === state)?.value
      const [total, unused] = [of('total'), of('free')]
      return fact(
        ['hugePages', one],
        total === undefined ? null : { total, free: unused ?? null },
        {
          label: `huge pages of ${one}`,
          text: ({ total: all, free: left }) =>
            `${figure(all)}, ${left === null ? 'unknown' : figure(left)} of them free`,
        },
      )
    }),
  ]
}

const clockFacts = (view: View): readonly Fact[] => {
  const { known } = view
  const why = whyOf(view, 'clock')
  const isKept = known.value('chain_host_clock_synchronized')
  return [
    fact('clockSynchronized', isKept === undefined ? null : isKept === 1, {
      label: 'clock kept',
      why,
      tone: (kept) => (kept ? undefined : 'bad'),
    }),
    fact('clockOffsetSeconds', known.value('chain_host_clock_offset_seconds'), {
      label: 'clock ahead by',
      why,
      text: milliseconds,
      tone: (seconds) => (Math.abs(seconds) > LIMITS.clockOffset.warning ? 'bad' : undefined),
    }),
  ]
}

/** Null where nobody looked. */
const exposedPorts = ({ known }: View): readonly string[] | null => {
  const ports = known.series('chain_host_port_exposed')
  if (ports.length === 0) return null
  return ports.filter(({ value }) => value === 1).map(({ labels }) => labels['port'] ?? '')
}

const portFact = (view: View): Fact =>
  fact('exposedPorts', exposedPorts(view), {
    why: whyOf(view, 'ports'),
    text: (ports) => ports.join(', ') || 'none',
    tone: (ports) => (ports.length > 0 ? 'bad' : undefined),
  })

/** What could not be looked at, in the words of whoever tried. */
const notTold = (view: View): readonly Fact[] =>
  Object.entries(view.reading('host', schema))
    .filter(([aspect, { samples }]) => samples.length === 0 && !SHOWN.includes(aspect))
    .map(([aspect, { state }]) =>
      fact<string>(['notSeen', aspect], state, { label: aspect, tone: () => 'quiet' }),
    )
