import type { LogPattern } from './pattern.ts'

/** Crashes of any program. */
export const crashes: readonly LogPattern[] = [
  {
    name: 'assertion',
    services: ['any'],
    text: "(?:.*: )?Assertion [`'].*' failed",
    isBare: true,
    reasonOnNextLine: true,
    severity: 'critical',
    alert: 'ChainAssertion',
    meaning: 'An assertion failed, and the program ended with SIGABRT.',
    advice:
      'Keep the log. If another pattern names the reason, follow that one. If the text names the database or the kernel, check those. If consensus was started alone, start it and execution together.',
  },
  {
    name: 'abort',
    services: ['any'],
    text: '(?:.*: )?[A-Z]+_ABORT called',
    isBare: true,
    reasonOnNextLine: true,
    severity: 'critical',
    alert: 'ChainAssertion',
    meaning: 'The program could not continue and ended with SIGABRT.',
    advice: 'Read the reason in the log and follow it.',
  },
  {
    name: 'panic',
    services: ['any'],
    text: String.raw`thread '.{0,80}?'(?: \(\d+\))? panicked at `,
    isBare: true,
    reasonOnNextLine: true,
    severity: 'critical',
    alert: 'ChainAssertion',
    meaning: 'A Rust program could not continue and ended.',
    advice: 'Read the reason, then start consensus and execution together.',
  },
  {
    name: 'fatal',
    services: ['any'],
    text: String.raw`(?:terminate called after throwing|Terminated unexpectedly because of signal|memory allocation of \d+ bytes failed|.{0,160}?std::bad_alloc)`,
    severity: 'critical',
    alert: 'ChainAssertion',
    meaning:
      'The program ran out of memory, or ended with an uncaught exception or by a signal such as a segmentation fault.',
    advice:
      "Check the host's memory and huge pages and what else uses them, then start consensus and execution together. If the line names another exception or a signal, keep the log.",
  },
  {
    name: 'high_qc_too_far',
    services: ['bft'],
    // Before Rust 1.73 the reason of a panic is on its first line, and in a paste that lost its line breaks.
    text: String.raw`(?:thread '.{0,80}? panicked at (?:'|\S{1,160}:\d+: ?))?high qc too far ahead of block tree root`,
    isBare: true,
    severity: 'critical',
    alert: 'ChainAssertion',
    meaning: 'The network is further ahead than the blocks that peers still serve: the node cannot catch up.',
    advice:
      "Start the node's services together so that statesync begins. If the node is more than 30,000 blocks behind, follow the hard reset first.",
    sources: ['statesync-threshold', 'hard-reset'],
  },
  {
    name: 'consensus_crashed',
    services: ['bft'],
    text: '(?:[^" ]+ )?consensus node crashed',
    severity: 'critical',
    alert: 'ChainAssertion',
    meaning: 'Consensus exited with code 0: systemd reports a clean stop and does not restart it.',
    advice: 'Read the preceding lines, then start consensus and execution together.',
  },
  {
    name: 'parent_executor_gone',
    services: ['bft'],
    text: 'parent executor returned none!',
    severity: 'critical',
    alert: 'ChainAssertion',
    meaning: 'A component that consensus needs has ended, so consensus ends too.',
    advice: 'Read the preceding lines, then start consensus and execution together.',
  },
]
