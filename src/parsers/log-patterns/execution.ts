import type { LogPattern } from './pattern.ts'

/** Execution of blocks. */
export const execution: readonly LogPattern[] = [
  {
    name: 'block_failed',
    services: ['execution'],
    text: String.raw`(?:block\s*\d+ failed with: |tx \d+ \S+ validation failed: )`,
    severity: 'critical',
    meaning: 'The node cannot execute a block that the network accepts as valid.',
    advice: 'Compare the version with the one that the network requires. Keep the log. The state itself may be right.',
    sources: ['execution-result'],
  },
  {
    name: 'result_mismatch',
    services: ['execution'],
    text: 'Delayed execution result mismatch for block',
    severity: 'critical',
    meaning: "The execution result differs from the network's: the states have diverged.",
    advice: 'Keep the log, stop the node, and upgrade it if its version is old. Then follow the hard reset.',
    sources: ['execution-result', 'hard-reset'],
  },
  {
    name: 'blocks_out_of_order',
    services: ['execution'],
    text: '(?:Validated blocks not increasing|Invalid epoch change: from |Called snapshot twice in epoch: )',
    severity: 'critical',
    meaning:
      'Execution got a block or an epoch that is not the next one: consensus and execution do not agree on the height.',
    advice:
      'Restart consensus and execution together. If it happens again, keep the log for the developers of the node.',
  },
  {
    name: 'exception',
    services: ['execution'],
    text: String.raw`(?:.{0,80}?[\s:])?[A-Z][A-Za-z]*Exception: `,
    severity: 'warning',
    meaning: 'A part of execution failed with an exception.',
    advice: 'Read the line. Check that the service still runs and that its height increases.',
  },
]
