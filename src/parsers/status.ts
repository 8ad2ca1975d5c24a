import { ParseError } from '../core/errors.ts'
import { parseU64 } from '../core/units.ts'
import { parseSize } from './mpt-size.ts'
import { type Outline, readOutline } from './status-outline.ts'
import { parseRatio, parseSpan } from './status-values.ts'

/** What the node's own status report says. Null is what it left out, left empty, or what is no value of its kind. */
export interface StatusReport {
  readonly header: {
    readonly hostname: string | null
    /** As printed: its form depends on the operator's locale. */
    readonly date: string | null
    /** Of the consensus process. */
    readonly uptimeSeconds: number | null
    readonly version: string | null
  }
  readonly config: {
    readonly network: string | null
    readonly chain: string | null
    readonly chainId: bigint | null
    /** 66 hex digits, lower case. */
    readonly secpPublicKey: string | null
    /** 96 hex digits, lower case. */
    readonly blsPublicKey: string | null
    /** Of the record by which others find the node: public. */
    readonly nodeSignature: string | null
    readonly selfAddress: string | null
    readonly selfAuthPort: bigint | null
    readonly recordSeqNum: bigint | null
  }
  /** The word that the report has for each, by the role without the maker's word: `bft` of `any-bft`. */
  readonly services: Readonly<Record<string, string>>
  readonly cleanup: {
    readonly activated: boolean | null
    /** Since the last one. */
    readonly previousSeconds: number | null
    /** Until the next one; negative when its time is over. */
    readonly nextSeconds: number | null
  }
  readonly storage: {
    readonly device: string | null
    readonly model: string | null
    readonly capacityBytes: number | null
    readonly usedBytes: number | null
    readonly usedRatio: number | null
  }
  readonly peers: bigint | null
  readonly consensus: {
    readonly status: string | null
    readonly mode: string | null
    readonly epoch: bigint | null
    readonly round: bigint | null
    readonly blockNumber: bigint | null
    readonly externalBlockNumber: bigint | null
    /** As printed, which need not be the difference of the two above. */
    readonly blockDifference: bigint | null
  }
  /** As reported. A target of 0 means that this process has not needed statesync. */
  readonly statesync: {
    readonly progressRatio: number | null
    readonly progressBlock: bigint | null
    readonly targetBlock: bigint | null
  }
  readonly rpc: {
    readonly status: string | null
    readonly clientVersion: string | null
    readonly netVersion: string | null
    readonly blockNumber: bigint | null
  }
  /** Paths that we do not know, at most 32 of them. */
  readonly unknownKeys: readonly string[]
  /** Lines that are not `key: value`. */
  readonly strayLines: number
}

/** Parses what `chain-status` prints. Throws a ParseError when nothing of a report is in it. */
export const parseStatusReport = (text: string): StatusReport => {
  const outline = readOutline(text)
  const paths = [...outline.values.keys()]
  // One alone is in many texts: `version: 3`.
  if (paths.filter(isKnown).length < 2) {
    throw new ParseError('the status report', 'sections with lines of "key: value"', text)
  }
  const { word, u64, i64, hex } = readersOf(outline)
  const value = (path: string): string => outline.values.get(path) ?? ''
  const [, used = '', percent] = /^([^(]*?)(?: \((.*%)\))?$/.exec(value('triedb.used')) ?? []
  return {
    header: {
      hostname: word('hostname'),
      date: word('date'),
      uptimeSeconds: parseSpan(value('uptime')),
      version: word('version') ?? word('packageVersion'),
    },
    config: {
      network: word('config.network'),
      chain: word('config.chain'),
      chainId: u64('config.chainId'),
      secpPublicKey: hex('config.secpPublicKey', 66),
      blsPublicKey: hex('config.blsPublicKey', 96),
      nodeSignature: hex('config.nodeSignature', 130),
      selfAddress: word('config.selfAddress'),
      selfAuthPort: u64('config.selfAuthPort'),
      recordSeqNum: u64('config.recordSeqNum'),
    },
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
      blockDifference: i64('consensus.blockDifference'),
    },
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
    unknownKeys: paths.filter((path) => !isKnown(path)).slice(0, MAX_ENTRIES),
    strayLines: outline.strayLines,
  }
}

/** A report with more has gone mad, and may not make a series of each. */
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

const isKnown = (path: string): boolean =>
  KNOWN.has(path) || SERVICE.test(path) || CLEANUP.test(path)

const readersOf = ({ values }: Outline) => {
  const word = (path: string): string | null => values.get(path) || null
  const u64 = (path: string): bigint | null => parseU64(word(path) ?? '') ?? null
  return {
    word,
    u64,
    i64: (path: string): bigint | null =>
      /^-?\d{1,19}$/.test(word(path) ?? '') ? BigInt(word(path) ?? '') : null,
    hex: (path: string, digits: number): string | null => {
      const text = (word(path) ?? '').replace(/^0x/, '').toLowerCase()
      return text.length === digits && /^[0-9a-f]+$/.test(text) ? text : null
    },
  }
}

const servicesOf = ({ values }: Outline): StatusReport['services'] => {
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

const cleanupOf = ({ values }: Outline): StatusReport['cleanup'] => {
  const found = new Map([...values].map(([path, value]) => [CLEANUP.exec(path)?.[1], value]))
  const activated = found.get('activated')
  const previous = parseSpan(found.get('previous') ?? '')
  return {
    activated: activated === 'true' || activated === 'false' ? activated === 'true' : null,
    previousSeconds: previous === null ? null : Math.abs(previous),
    nextSeconds: parseSpan(found.get('next') ?? ''),
  }
}
