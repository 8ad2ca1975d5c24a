import { own } from '../../domain/node-source.ts'
import type { LogPatternRow } from './pattern.ts'

const RUNLOOP = 'monad/category/execution/runloop/runloop_monad.cpp'

/** Execution of blocks. */
export const execution: readonly LogPatternRow[] = [
  {
    name: 'block_failed',
    services: ['execution'],
    text: String.raw`block\s*\d+ failed with: `,
    sources: [
      ...own('monad/cmd/monad/main.cpp', 'main'),
      ...own('monad/category/execution/runloop/runloop_interface_monad.cpp', 'monad_runloop_run'),
    ],
    endsProcess: true,
    meaning: 'Execution rejected a block that consensus accepted, and ended with exit code 1.',
    advice: 'Compare the version with the one that the network requires. Keep the log. The state itself may be right.',
    documents: ['execution-result'],
  },
  {
    name: 'result_mismatch',
    services: ['execution'],
    text: 'Delayed execution result mismatch for block',
    sources: own(RUNLOOP, 'validate_delayed_execution_results'),
    endsProcess: true,
    meaning: "The execution result differs from the network's: the states have diverged, and execution aborted.",
    advice: 'Keep the log, stop the node, and upgrade it if its version is old. Then follow the hard reset.',
    documents: ['execution-result', 'hard-reset'],
  },
  {
    name: 'blocks_out_of_order',
    services: ['execution'],
    text: '(?:Validated blocks not increasing|Invalid epoch change: from |Called snapshot twice in epoch: )',
    sources: [
      ...own(RUNLOOP, 'validate_delayed_execution_results'),
      ...own(
        'monad/category/execution/monad/staking/staking_contract.cpp',
        'syscall_on_epoch_change',
        'syscall_snapshot',
      ),
    ],
    endsProcess: true,
    meaning:
      'Execution got a block or an epoch that is not the next one, and ended: consensus and execution do not agree on the height.',
    advice:
      'Restart consensus and execution together. If it happens again, keep the log for the developers of the node.',
  },
  {
    name: 'consensus_disconnected',
    services: ['execution'],
    text: '(?:socket error event|connection closed), reconnecting',
    sources: own('monad/category/statesync/statesync_server_network.hpp', 'statesync_server_recv'),
    severity: 'info',
    meaning: 'Consensus closed its socket while execution runs: consensus was stopped, restarted or has ended.',
    advice:
      'No action needed if the services were stopped together. If consensus alone was restarted, restart both together at a convenient time: `chain-agent recover`.',
  },
]
