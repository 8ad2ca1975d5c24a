import { ParseError } from '../core/errors.ts'
import { withinBounds } from '../core/bounds.ts'
import { parseTimeSpan, parseU64 } from '../core/units.ts'
import { unknownValue } from '../core/unknown-values.ts'
import { parseSize, plainLines } from './mpt.ts'

/** The node's own status report. Null is a value that is missing, empty or malformed. */
export type StatusReport = ReturnType<typeof parseStatusReport>

/** Parses the output of `chain-status`. Throws a ParseError if it is not a status report. */
export const parseStatusReport = (text: string) => {
  const outline = readOutline(text)
  const paths = [...outline.values.keys()]
  // One known key alone occurs in many texts: `version: 3`.
  if (paths.filter(isKnown).length < 2) {
    throw new ParseError('the status report', 'sections with lines of "key: value"', text)
  }
  const { word, u64, i64, hex } = readersOf(outline)
  const value = (path: string): string => outline.values.get(path) ?? ''
  const [, used = '', percent] = /^([^(]*?)(?: \((.*%)\))?$/.exec(value('triedb.used')) ?? []
  return {
    header: {
      hostname: word('hostname'),
      /** As printed: its form depends on the operator's locale. */
      date: word('date'),
      /** The uptime of the consensus process. */
      uptimeSeconds: parseSpan(value('uptime')),
      version: word('version') ?? word('packageVersion'),
    },
    config: {
      network: word('config.network'),
      chain: word('config.chain'),
      chainId: u64('config.chainId'),
      /** 66 hex digits, lower case. */
      secpPublicKey: hex('config.secpPublicKey', 66),
      /** 96 hex digits, lower case. */
      blsPublicKey: hex('config.blsPublicKey', 96),
      /** The signature of the public name record by which peers find the node. */
      nodeSignature: hex('config.nodeSignature', 130),
      selfAddress: word('config.selfAddress'),
      selfAuthPort: u64('config.selfAuthPort'),
      recordSeqNum: u64('config.recordSeqNum'),
    },
    /** The reported state of each service, by its role without the name prefix: `bft` of `any-bft`. */
    services: servicesOf(outline),
    cleanup: cleanupOf(outline),
    storage: {
      device: word('triedb.device'),
      model: word('triedb.model'),
      capacityBytes: parseSize(value('triedb.capacity')),
      usedBytes: parseSize(used),
      usedRatio: parseRatio(percent ?? ''),
    },
    peers: u64('peers.peersNumber'),
    consensus: {
      status: word('consensus.status'),
      mode: word('consensus.mode'),
      epoch: u64('consensus.epoch'),
      round: u64('consensus.round'),
      blockNumber: u64('consensus.blockNumber'),
      externalBlockNumber: u64('consensus.blockNumberFromExternal'),
      /** As printed; may differ from the difference of the two values above. */
      blockDifference: i64('consensus.blockDifference'),
    },
    /** As reported. A target of 0 means that this process has not needed statesync. */
    statesync: {
      progressRatio: parseRatio(value('statesync.percentage')),
      progressBlock: u64('statesync.progress'),
      targetBlock: u64('statesync.target'),
    },
    rpc: {
      status: word('rpc.status'),
      clientVersion: word('rpc.clientVersion'),
      netVersion: word('rpc.netVersion'),
      blockNumber: u64('rpc.blockNumber'),
    },
    /** Unknown paths, at most 32. */
    unknownKeys: paths.filter((path) => !isKnown(path)).slice(0, MAX_ENTRIES),
    unknownValues: unknownValue('activated of the cleanup', cleanupValues(outline).get('activated'), SWITCH),
    /** Lines that are not `key: value`. */
    strayLines: outline.strayLines,
  }
}

/** A report with more entries is malformed, and must not create a series for each. */
const MAX_ENTRIES = 32

const KNOWN = new Set(
  `hostname date uptime version packageVersion config services triedb peers consensus statesync rpc
  config.network config.chain config.chainId config.secpPublicKey config.blsPublicKey
  config.nodeSignature config.selfAddress config.selfAuthPort config.recordSeqNum
  triedb.device triedb.model triedb.capacity triedb.used peers.peersNumber
  consensus.status consensus.mode consensus.epoch consensus.round consensus.blockNumber
  consensus.blockNumberFromExternal consensus.blockDifference
  statesync.percentage statesync.progress statesync.target
  rpc.status rpc.clientVersion rpc.netVersion rpc.blockNumber`.split(/\s+/),
)
const SERVICE = /^services\.([^.]+)$/
const CLEANUP = /^services\.(?:[^.]+-)?cruft\.(activated|previous|next)$/

const isKnown = (path: string): boolean => KNOWN.has(path) || SERVICE.test(path) || CLEANUP.test(path)

const readersOf = ({ values }: Outline) => {
  const word = (path: string): string | null => values.get(path) || null
  const u64 = (path: string): bigint | null => parseU64(word(path) ?? '') ?? null
  return {
    word,
    u64,
    i64: (path: string): bigint | null =>
      /^-?\d{1,19}$/.test(word(path) ?? '') ? withinBounds('i64', BigInt(word(path) ?? '')) : null,
    hex: (path: string, digits: number): string | null => {
      const text = (word(path) ?? '').replace(/^0x/, '').toLowerCase()
      return text.length === digits && /^[0-9a-f]+$/.test(text) ? text : null
    },
  }
}

const servicesOf = ({ values }: Outline): Readonly<Record<string, string>> => {
  const units = [...values].flatMap(([path, state]): readonly (readonly [string, string])[] => {
    const [, unit = ''] = SERVICE.exec(path) ?? []
    return unit === '' || (/\bcruft$/.test(unit) && state === '') ? [] : [[unit, state]]
  })
  const [prefix = ''] = units.flatMap(([unit]) => /^.+-(?=(?:bft|execution|rpc)$)/.exec(unit) ?? [])
  const roles = units.map(([unit, state]): readonly [string, string] => [
    unit.startsWith(prefix) ? unit.slice(prefix.length) : unit,
    state,
  ])
  return Object.fromEntries(roles.slice(0, MAX_ENTRIES))
}

const SWITCH = ['true', 'false']

const cleanupValues = ({ values }: Outline): ReadonlyMap<string | undefined, string> =>
  new Map([...values].map(([path, value]) => [CLEANUP.exec(path)?.[1], value]))

const cleanupOf = (outline: Outline) => {
  const found = cleanupValues(outline)
  const activated = found.get('activated')
  const previous = parseSpan(found.get('previous') ?? '')
  return {
    activated: activated === 'true' || activated === 'false' ? activated === 'true' : null,
    /** Seconds since the last cleanup. */
    previousSeconds: previous === null ? null : Math.abs(previous),
    /** Seconds until the next cleanup; negative if it is overdue. */
    nextSeconds: parseSpan(found.get('next') ?? ''),
  }
}

/** A text of `key: value` lines, whose sections are marked by indentation only. */
export interface Outline {
  /** Values by the path of keys, like `rpc.blockNumber`. Empty if the key has no value. */
  readonly values: ReadonlyMap<string, string>
  /** Lines of another form: errors of the programs that the report runs. */
  readonly strayLines: number
}

/** The longest known value, a key of 130 digits, is much shorter. */
const MAX_VALUE = 256
const LINE = /^( *)([A-Za-z][\w-]{0,63}):(?: +(.*))?$/

/** Reads every `key: value` line. If a path occurs twice, the first value is kept. */
const readOutline = (text: string): Outline => {
  const values = new Map<string, string>()
  let sections: readonly { readonly depth: number; readonly path: string }[] = []
  let strayLines = 0
  for (const line of plainLines(text)) {
    if (line === '' || line.trimStart().startsWith('#')) continue
    const [, blanks, key, value = ''] = LINE.exec(line.replaceAll('\t', '  ')) ?? []
    if (blanks === undefined || key === undefined || value.length > MAX_VALUE) {
      strayLines += 1
      continue
    }
    const parents = sections.filter(({ depth }) => depth < blanks.length)
    const path = [parents.at(-1)?.path, key].filter((part) => part !== undefined).join('.')
    if (!values.has(path)) values.set(path, value)
    // Only a key without a value begins a section and ends the previous one. An error message in between does not.
    if (value === '') sections = [...parents, { depth: blanks.length, path }]
  }
  return { values, strayLines }
}

/** `1h 3min`, `2 days`, `0d 00h 41m 49s` in seconds; negative with `ago` behind it; null for anything else. */
export const parseSpan = (text: string): number | null => {
  const total = parseTimeSpan(text.replace(/ (?:ago|left)$/, ''))
  if (total === undefined) return null
  return withinBounds('age', text.endsWith(' ago') ? 0 - total : total)
}

/** `16.24%` as 0.1624; null for anything else. */
export const parseRatio = (text: string): number | null =>
  /^\d{1,3}(?:\.\d{1,9})?%$/.test(text) ? withinBounds('ratio', Number(`${text.slice(0, -1)}e-2`)) : null
