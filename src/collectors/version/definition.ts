import { z } from 'zod'
import { file, label, POLL, timing } from '../../config/values.ts'
import { gauge, open } from '../../core/metric.ts'

/** Who tells the version that runs: the process of the RPC, the metrics of consensus. */
export const RUNNING_SOURCES = ['rpc', 'native'] as const
/** What a node must have by the time of a fork. */
export const FORK_CHECKS = ['version', 'timeline'] as const

export const definition = {
  name: 'version',
  help: 'what is installed, what runs, and whether the node is ready for the next fork',
  introduction:
    'What is installed, what runs, and what the network will ask for. A version that is not known is never a mismatch; nor is what a package adds to it (`+1`), or a suffix such as `-rc` that the RPC leaves out. For `chain_fork_ready` of `version` what is installed decides until 24 hours before the fork, then what runs must be new enough, too. A fork that is 30 days past, with all that it asked for, is no longer shown. Forks come from `networks/forks.yaml`, by the chain id that the RPC or the status report tells, and from `version.forksFile`.',
  settings: z
    .strictObject({
      ...timing('1m', '20s', POLL),
      package: label
        .nullable()
        .default(null)
        .describe("the node's Debian package; the maker's word without one"),
      programs: z
        .array(label)
        .default(['node'])
        .describe('the programs, without the prefix, that tell their version with --version'),
      forksFile: file('forks and releases of networks, read beside those that the agent knows')
        .nullable()
        .default(null),
    })
    .prefault({}),
  metrics: {
    chain_node_build_info: gauge('Constant 1; the installed program as it says itself.', {
      program: open,
      version: open,
      tag: open,
      commit: open,
      branch: open,
      modified: open,
    }),
    chain_node_running_info: gauge(
      'Constant 1; the version that runs: of the RPC, and of consensus by its own metrics.',
      { source: RUNNING_SOURCES, version: open },
    ),
    chain_package_info: gauge('Constant 1; the installed package.', {
      package: open,
      version: open,
    }),
    chain_version_mismatch: gauge(
      'Whether a process runs another version than the installed one: a restart is pending.',
    ),
    chain_fork_activation_timestamp_seconds: gauge(
      'When the fork or the mandatory release of the network takes effect.',
      { fork: open },
    ),
    chain_fork_ready: gauge('Whether the node has what the fork asks for.', {
      fork: open,
      check: FORK_CHECKS,
    }),
  },
} as const
