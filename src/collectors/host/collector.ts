import type { Clock } from '../../core/clock.ts'
import { type Collector, poll, type Timing } from '../../core/collector.ts'
import type { Exec } from '../../sources/exec.ts'
import type { HostSources } from '../../sources/host.ts'
import { type Aspect, KNOWN, lookAtAll, NOT_TOLD, type Sight } from './aspect.ts'
import { clockAspect } from './clock.ts'
import { createReadPath, directoryAspects, type ReadPath } from './directories.ts'
import { driveAspects } from './drives.ts'
import { kernelAspects } from './kernel.ts'
import { memoryAspects } from './memory.ts'
import { portsAspect } from './ports.ts'
import { processAspects } from './processes.ts'
import { processorAspects } from './processors.ts'
import type { MainPids } from '../shared/node-state.ts'
import type { OfferCollector } from '../dependencies.ts'
import { definition } from './definition.ts'

/** What was seen, by aspect. */
export type HostReading = ReadonlyMap<string, Sight>

interface Parts extends HostSources {
  readonly exec: Exec
  readonly clock: Clock
  readonly readPath: ReadPath
  readonly mainPids: MainPids
  readonly ports: readonly number[]
  readonly directories: Readonly<Record<string, string>>
  readonly nodeDirectory: string
  readonly timing: Timing
}

/** What the node needs from its host: each aspect by itself, so that none takes the others along. */
export const host = (parts: Parts): Collector<HostReading> => {
  const { timing } = parts
  // Before the collector's own deadline: an aspect that hangs must not cost the reading.
  const common = { ...parts, timeout: timing.timeout * 0.8 }
  const aspects: readonly Aspect[] = [
    ...kernelAspects(common),
    ...processorAspects(common),
    ...memoryAspects(common),
    clockAspect(common),
    portsAspect(common),
    ...directoryAspects(common),
    ...driveAspects(common),
    ...processAspects(common),
  ]
  return {
    name: definition.name,
    help: definition.help,
    timing,
    run: poll(timing, (context) => lookAtAll(aspects, context)),
    samples: (reading) => [...reading.values()].flatMap(({ samples }) => samples),
    states: describe,
  }
}

const WITH_REASON = `${NOT_TOLD}: `

/** What is simply known, or not told here, is one line each: the log of a start should not be a page. */
const describe = (reading: HostReading): Readonly<Record<string, string>> => {
  const known = [...reading].filter(([, { state }]) => state === KNOWN).map(([name]) => name)
  const notTold = [...reading].flatMap(([name, { state }]) => {
    if (state === NOT_TOLD) return [name]
    return state.startsWith(WITH_REASON) ? [`${name} (${state.slice(WITH_REASON.length)})`] : []
  })
  const others = [...reading].filter(
    ([, { state }]) => state !== KNOWN && !state.startsWith(NOT_TOLD),
  )
  return {
    'host, known': known.join(', ') || 'none',
    'host, not told here': notTold.join(', ') || 'none',
    ...Object.fromEntries(others.map(([name, { state }]) => [`host, ${name}`, state])),
  }
}

export const offer: OfferCollector = ({
  config,
  readPrefix,
  keyFiles,
  mainPids,
  exec,
  clock,
  host: sources,
}) => {
  const { directory: nodeDirectory } = config.node
  const { ports, directories } = config.host
  return {
    uses: [readPrefix, nodeDirectory],
    role: 'derived',
    create: (timing) =>
      host({
        ...sources,
        mainPids,
        ports,
        directories,
        nodeDirectory,
        timing,
        exec,
        clock,
        readPath: createReadPath(readPrefix, keyFiles),
      }),
  }
}
