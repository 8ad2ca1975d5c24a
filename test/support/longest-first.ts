import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import times from '../times.json' with { type: 'json' }

const slowest: Readonly<Record<string, number>> = times.slowest

/** The files that took longest in the recorded run first: at the end no worker is left alone with one of them. */
export class LongestFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const secondsOf = ({ moduleId, project }: TestSpecification): number =>
      slowest[relative(project.vitest.config.root, moduleId)] ?? 0
    return Promise.resolve(files.toSorted((a, b) => secondsOf(b) - secondsOf(a)))
  }
}
