import { minute, second } from './units.ts'

const KiB = 1024
const MiB = 1024 * KiB

/**
 * The limits of everything that the agent reads. Text is measured in characters after decoding, `…Bytes` before it, times
 * in milliseconds. Requests to the query service have their own limits: query/service/api/limits.ts.
 */
export const LIMITS = {
  /** Responses of the node, of references and of the agent. A block with all transaction hashes is far smaller. */
  http: {
    bodyBytes: 8 * MiB,
    /** A page of the query service that the agent reads: a larger one blocks `/metrics` while it is parsed. */
    pageBytes: 32 * MiB,
  },
  /**
   * The servers for metrics and the API. Prometheus needs one connection. Viewers of the status page do not count among
   * the connections; one that has not read `streamBytes` of its stream is disconnected.
   */
  server: { connections: 64, headersMs: 3 * second, requestMs: 10 * second, streams: 512, streamBytes: 256 * KiB },
  /** JSON is not parsed if it is nested more deeply: each level costs memory. The node's own is at most 8 deep. */
  json: { depth: 64 },
  /** The largest known response of a node is about 300 KB, with 3,000 samples. */
  exposition: { length: 4 * MiB, samples: 100_000 },
  /** Tools of the node and of the system. The known tools print less; a tool that prints more is killed. */
  tool: {
    outputBytes: 4 * MiB,
    errorBytes: 64 * KiB,
    concurrent: 8,
    /** Per program: a hanging journalctl, which several collectors call, must not block the other tools. */
    concurrentPerProgram: 4,
    /** Time between SIGTERM and SIGKILL. A tool that hangs in its own abort handler ignores SIGTERM. */
    graceMs: 2 * second,
    /** For commands; collectors have their own timeouts. */
    runMs: 10 * second,
    /** Between two chunks of existing output. */
    idleMs: 30 * second,
    /** journalctl prints nothing while it searches a large journal. */
    searchMs: 5 * minute,
  },
  journal: {
    /** A line of `journalctl -o json`: a byte of a message can take four characters. */
    entryBytes: 8 * MiB,
    /** Longer messages are dropped: 1 MiB without a line break carries no log message. */
    messageLength: MiB,
    /** The last part of a split line follows at once or never: the program was killed, or journald dropped it. */
    partMs: 10 * second,
    /** Processes with an incomplete line at the same time; further ones are dropped. */
    streams: 64,
    /** An entry that is later than now by more: the clock was ahead when it was written. */
    aheadMs: second,
  },
  /** The sets of validators of the node: 300 members of two epochs are 160 KB. */
  set: { length: MiB, depth: 16, epochs: 16, members: 2000 },
  /** The configuration, and the value of one flag or variable. */
  config: { length: 256 * KiB, valueLength: 16 * KiB, depth: 32, indent: 128, problems: 50 },
  /** Texts of other programs: a version or a name, and an error message. */
  text: { label: 256, error: KiB },
} as const
