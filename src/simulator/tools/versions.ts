import { digest } from '../chain/random.ts'
import type { SimulatedNode } from '../node.ts'
import type { Tool } from './tools.ts'
import { installedVersion, runningVersion } from '../scenario/versions.ts'

/** `Name/version`, as the RPC gives it: the word of the prefix with a capital letter. */
export const clientVersionOf = ({ prefix, condition }: SimulatedNode): string => {
  const { versions, services } = condition()
  const version = versions.hidden ? 'unknown' : runningVersion(versions, services.rpc)
  return `${capitalised(prefix)}/${version.replace(/-.*/, '')}`
}

export const capitalised = (word: string): string =>
  `${word.charAt(0).toUpperCase()}${word.slice(1)}`

/** The stand-in for the consensus program, which can only say its version: it does not run. */
export const createVersionTool =
  ({ prefix, condition }: SimulatedNode): Tool =>
  (argv) => {
    if (argv.length !== 1 || !/^(?:--version|-V)$/.test(argv[0] ?? '')) {
      return [{ stderr: `error: the simulated ${prefix}-node knows --version only\n` }, { exit: 2 }]
    }
    const version = installedVersion(condition().versions)
    const build = {
      commit: digest('commit', version).slice(0, 40),
      tag: `v${version}`,
      branch: '',
      modified: true,
    }
    return [{ stdout: `${prefix}-node ${JSON.stringify(build)}\n` }, { exit: 0 }]
  }
