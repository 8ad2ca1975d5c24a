import { minute, second } from './units.ts'

const KiB = 1024
const MiB = 1024 * KiB

/**
 * The limits of everything that the agent reads. Text is measured in characters after decoding, `…Bytes` before it, times
 * in milliseconds. Requests to the query service have their own limits: query/service/api/limits.ts.
 */
export const LIMITS = {
  /** Responses, after decompression. A longer one is an error of its endpoint, and the rest is not read. */
  response: {
    /** A height, a version, the result of a contract call. A set of 100 validators has 7 KB; an error page some KB. */
    valueBytes: 64 * KiB,
    /** A block with the hashes of its transactions: 70 bytes each. */
    blockBytes: 2 * MiB,
    metricsBytes: 2 * MiB,
    /** The API of the agent, which the commands read. */
    agentBytes: 8 * MiB,
    /** A page of the query service that the agent reads: a larger one blocks `/metrics` while it is parsed. */
    pageBytes: 32 * MiB,
  },
  /** The servers for metrics and the API. Prometheus needs one connection. */
  server: { connections: 64, headersMs: 3 * second, requestMs: 10 * second },
  /**
   * JSON is not parsed if it has more: parsed, each level and each value takes many times its size. The node's own is at
   * most 8 deep, and a block of 10,000 transactions has about 10,000 values.
   */
  json: { depth: 64, values: 100_000 },
  /** The largest known response of a node has 300 KB, 3,000 samples and 10 labels. A line bounds its labels. */
  exposition: { length: 2 * MiB, lineLength: 16 * KiB, lines: 60_000, labels: 64 },
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
    /** A line of `journalctl -o json`: a byte of a message can take four characters, and then is a number in a list. */
    entryBytes: 8 * MiB,
    entryValues: 2 * MiB,
    /** Longer messages are dropped: 1 MiB without a line break carries no log message. */
    messageLength: MiB,
    /** The last part of a split line follows at once or never: the program was killed, or journald dropped it. */
    partMs: 10 * second,
    /** Processes with an incomplete line at the same time; further ones are dropped. */
    streams: 64,
    /** An entry that is later than now by more: the clock was ahead when it was written. */
    aheadMs: second,
  },
  /** A keystore, a password, or a backup of one. */
  keyFile: { bytes: 64 * KiB },
  /** Each of /proc/net/tcp and tcp6. */
  socketTable: { bytes: 256 * KiB },
  /** The sets of validators of the node: 300 members of two epochs are 160 KB. */
  set: { length: MiB, depth: 16, epochs: 16, members: 2000 },
  /** The configuration with the files that it names, and the value of one flag or variable. */
  config: { fileBytes: MiB, length: 256 * KiB, valueLength: 16 * KiB, depth: 32, indent: 128, problems: 50 },
  /**
   * A document that the agent has saved; its largest number is the last time of a Date in milliseconds. The firing alerts
   * in one: the rules have some 200, each with some ten labels and annotations. The newest incidents and events are kept, in
   * at most `incidentsBytes` and `eventsBytes`.
   */
  state: {
    fileBytes: 16 * MiB,
    number: 8.64e15,
    alerts: 1000,
    alertTexts: 64,
    alertTextLength: 4 * KiB,
    incidentsBytes: 64 * MiB,
    eventsBytes: 2 * MiB,
  },
  /**
   * `chain-agent mcp`: a request, the data of an answer (some 15,000 tokens of a model), the calls that run at the same time,
   * and the time of one. A client waits for a minute by default.
   */
  mcp: { lineBytes: 64 * KiB, answerLength: 48 * KiB, calls: 4, callMs: 50 * second },
  /** Texts of other programs: a version or a name, and an error message. */
  text: { label: 256, error: KiB },
} as const
