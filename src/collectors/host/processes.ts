import { SourceError } from '../../core/errors.ts'
import { type Sample, sample, sampleIfKnown } from '../../core/metric.ts'
import { parseOpenFilesLimit } from '../../parsers/proc-limits.ts'
import type { Tree } from '../../sources/kernel.ts'
import { type Aspect, createAspect } from './aspect.ts'
import type { MainPids } from '../shared/node-state.ts'

interface Parts {
  readonly procfs: Tree
  readonly mainPids: MainPids
  readonly timeout: number
}

/** How many files the node's processes have open, and may have. */
export const processAspects = ({ procfs, mainPids, timeout }: Parts): readonly Aspect[] => [
  createAspect({
    name: 'limits of services',
    timeout,
    read: async () => {
      const found: Sample[] = []
      for (const [service, pid] of mainPids.get()) {
        const text = await procfs.read(`${pid}/limits`)
        const limit = text === null || text === '' ? null : parseOpenFilesLimit(text)
        found.push(...sampleIfKnown('chain_service_max_file_descriptors', limit, { service }))
      }
      return found.length === 0 ? { samples: [], state: NONE } : found
    },
  }),
  createAspect({
    name: 'open files of services',
    timeout,
    read: async () => {
      const found: Sample[] = []
      let isHidden = false
      for (const [service, pid] of mainPids.get()) {
        try {
          const count = await procfs.count(`${pid}/fd`)
          if (count !== null) {
            found.push(sample('chain_service_open_file_descriptors', count, { service }))
          }
        } catch (error) {
          if (!(error instanceof SourceError)) throw error
          isHidden = true
        }
      }
      if (isHidden) return { samples: found, state: HIDDEN }
      return found.length === 0 ? { samples: [], state: NONE } : found
    },
  }),
]

const NONE = 'no running service is known'
const HIDDEN = 'not counted for other users before Linux 6.2 (docs/host.md)'
