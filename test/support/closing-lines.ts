import { relative } from 'node:path'
import type { SerializedError } from 'vitest'
import type { Reporter, TestModule } from 'vitest/node'
import type { RealPart } from './real-parts.ts'
import { type FileTime, reportTimes } from './test-times.ts'

/**
 * Ends the run with two lines: which real parts ran, and the verdict, alone on the last line. A complete tier has its times before
 * them.
 */
class ClosingLines implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const lines = [
      ...reportTimes(modules.map(timeOf)),
      ...renderParts(realParts(modules)),
      renderVerdict(count(modules, errors)),
    ]
    // The other reporter has not yet written its last lines.
    process.once('exit', () => {
      process.stdout.write(`${lines.join('\n')}\n`)
    })
  }
}

// Vitest asks for a default export here.
// oxlint-disable-next-line import/no-default-export
export default ClosingLines

const timeOf = (module: TestModule): FileTime => {
  const { collectDuration, duration } = module.diagnostic()
  const tests = [...module.children.allTests()].length
  return { file: relative(process.cwd(), module.moduleId), tests, seconds: (collectDuration + duration) / 1000 }
}

const realParts = (modules: readonly TestModule[]): readonly RealPart[] => {
  const parts = new Map<string, RealPart>()
  for (const module of modules) {
    for (const test of module.children.allTests()) {
      const { realPart } = test.meta()
      if (realPart) parts.set(realPart.name, realPart)
    }
  }
  return [...parts.values()]
}

const renderParts = (parts: readonly RealPart[]): readonly string[] =>
  parts.length === 0
    ? []
    : [
        `real parts: ${parts
          .map(({ name, ran, detail }) =>
            [name, ran ? 'ran' : 'skipped', ...(detail === '' ? [] : [`(${detail})`])].join(' '),
          )
          .join(', ')}`,
      ]

/** A file that cannot be loaded counts as one failure: it has no tests that could. */
const count = (modules: readonly TestModule[], errors: readonly SerializedError[]) => {
  const counts = { passed: 0, failed: errors.length, skipped: 0, pending: 0 }
  for (const module of modules) {
    counts.failed += module.errors().length
    for (const test of module.children.allTests()) counts[test.result().state] += 1
  }
  return counts
}

const renderVerdict = ({ passed, failed, skipped, pending }: ReturnType<typeof count>): string =>
  `${passed} passed, ${failed + pending} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
