import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { installed } from '../test/support/installed.ts'
import { must } from '../test/support/programs.ts'
import { npmReason, type ReleaseCommit, ROOT, Unavailable } from './comparison.ts'

/** Name of the program in a report. */
export const releaseName = ({ version, commit }: ReleaseCommit): string => `chain-agent ${version} (${commit})`

/** A checkout of its own, so that the build finds its commit. */
const BUILD = '[ -e dist/.built ] || { npm run build && touch dist/.built; }'

/** Checks out and builds a release in `.cache/bench`, once; returns its folder. Throws `Unavailable` without its commit or the npm registry. */
export const buildRelease = async ({ commit }: ReleaseCommit): Promise<string> => {
  const folder = join(ROOT, '.cache/bench', `release-${commit}`)
  try {
    if (!existsSync(folder)) {
      await must('git', ['worktree', 'add', '--force', '--detach', folder, commit], { cwd: ROOT })
    }
    await installed(folder, ['--prefer-offline'])
    await must('sh', ['-euc', BUILD], { cwd: folder })
    return folder
  } catch (error) {
    throw new Unavailable(`needs commit ${commit} in the git history, and the npm registry once: ${npmReason(error)}`, {
      cause: error,
    })
  }
}
