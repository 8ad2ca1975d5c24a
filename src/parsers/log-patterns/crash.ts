import { own } from '../../domain/node-source.ts'
import type { LogPatternRow } from './pattern.ts'

const MAIN = 'monad-bft/monad-node/src/main.rs'
const ASSERT = 'monad/category/core/assert.c'

/** `PROGRAM: FILE:LINE: FUNCTION: NAME assert throw '…' failed: '…'`: what the main function prints of an exception that reached it. */
export const UNCAUGHT = String.raw`\S{1,80}: \S{1,300}:\d{1,9}: .{1,400}?: \w{1,30} assert throw '`

/** Crashes of any program. A panic in any thread of a Rust program ends it: `panic = "abort"` in monad-bft/Cargo.toml. */
export const crashes: readonly LogPatternRow[] = [
  {
    name: 'assertion',
    services: ['any'],
    text: "(?:.*: )?Assertion [`'].*' failed",
    isBare: true,
    reasonOnNextLine: true,
    sources: own(ASSERT, 'monad_assertion_failed'),
    endsProcess: true,
    alert: 'ChainLogTrouble.aborted',
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
    sources: own(ASSERT, 'monad_assertion_failed'),
    endsProcess: true,
    alert: 'ChainLogTrouble.aborted',
    meaning: 'The program could not continue and ended with SIGABRT.',
    advice: 'Read the reason in the log and follow it.',
  },
  {
    name: 'panic',
    services: ['any'],
    text: String.raw`thread '.{0,80}?'(?: \(\d+\))? panicked at `,
    isBare: true,
    reasonOnNextLine: true,
    sources: [],
    notInSource: "Rust's standard library",
    endsProcess: true,
    alert: 'ChainLogTrouble.aborted',
    meaning: 'A Rust program could not continue and ended with SIGABRT.',
    advice: 'Read the reason, then start consensus and execution together.',
  },
  {
    name: 'fatal',
    services: ['any'],
    text: String.raw`(?:terminate called |pure virtual method called|Terminated unexpectedly because of signal|memory allocation of \d+ bytes failed|.{0,160}?std::bad_alloc|thread '.{0,80}?'(?: \(\d+\))? has overflowed its stack|fatal runtime error: )`,
    sources: [],
    notInSource: "Rust's and C++'s standard libraries, and execution from v0.11 to v0.15.2",
    endsProcess: true,
    alert: 'ChainLogTrouble.aborted',
    meaning:
      'The program ran out of memory or of its stack, or ended with an uncaught exception or by a signal such as a segmentation fault.',
    advice:
      "Check the host's memory and huge pages and what else uses them, then start consensus and execution together. If the line names another exception or a signal, keep the log.",
  },
  {
    name: 'memory_corrupted',
    services: ['any'],
    text: String.raw`(?:\*\*\* .{1,80} detected \*\*\*|double free or corruption|corrupted (?:size vs\. prev_size|double-linked list)|(?:free|malloc|malloc_consolidate|realloc|munmap_chunk)\(\): |Fatal glibc error: )`,
    isBare: true,
    sources: [],
    notInSource: 'the C library',
    endsProcess: true,
    alert: 'ChainLogTrouble.aborted',
    meaning: 'The C library found the memory of the program damaged, and ended it with SIGABRT.',
    advice:
      "Keep the log for the developers of the node. Check the host's memory for errors: `journalctl -k | grep -iE 'mce|edac|hardware error'`. Then start consensus and execution together.",
  },
  {
    name: 'high_qc_too_far',
    // Before Rust 1.73 the reason of a panic is on its first line, and in a paste that lost its line breaks.
    text: String.raw`(?:thread '.{0,80}? panicked at (?:'|\S{1,160}:\d+: ?))?high qc too far ahead of block tree root`,
    isBare: true,
    sources: own('monad-bft/monad-consensus-state/src/lib.rs', 'maybe_statesync'),
    endsProcess: true,
    alert: 'ChainLogTrouble.aborted',
    meaning:
      'The network is 3/2 of `statesync_threshold` or more ahead of the last committed block (900 blocks by default), the distance at which a running consensus ends itself.',
    advice:
      'A start with the local forkpoint alone ends the same way. Set both URLs of forkpoint and validators file, or copy both files from another node, and start the services together: `chain-agent recover`. If the node is more than 30,000 blocks behind, follow the hard reset first.',
    documents: ['soft-reset', 'statesync-threshold', 'hard-reset'],
  },
  {
    name: 'consensus_crashed',
    text: '(?:[^" ]+ )?consensus node crashed',
    sources: own(MAIN, 'main'),
    endsProcess: true,
    alert: 'ChainLogTrouble.aborted',
    meaning:
      'Consensus ended with an error that is no panic, and with exit code 0: systemd reports a clean stop and does not restart it.',
    advice: 'Read the preceding lines, then start consensus and execution together.',
  },
  {
    name: 'parent_executor_gone',
    text: 'parent executor returned none!',
    sources: own(MAIN, 'run'),
    endsProcess: true,
    alert: 'ChainLogTrouble.aborted',
    meaning: 'A component that consensus needs has ended, so consensus ends too.',
    advice: 'Read the preceding lines, then start consensus and execution together.',
  },
  {
    name: 'exception',
    services: ['execution'],
    text: String.raw`(?:(?:.{0,80}?[\s:])?[A-Z][A-Za-z]*Exception: |${UNCAUGHT})`,
    sources: [...own('monad/cmd/monad/main.cpp', 'main'), ...own('monad/category/core/monad_exception.cpp', 'print')],
    endsProcess: true,
    alert: 'ChainLogTrouble.aborted',
    meaning: 'An exception reached the main function of execution, which ended with exit code 1.',
    advice: 'Keep the log and read the reason. Then start consensus and execution together.',
  },
]
