/** Of the hex digits in a log, those that are no secret: public keys, and hashes that are called so. */
export const isSpared = (digits: string, before: string): boolean => {
  const bare = digits.replace(/^0x/i, '')
  // Of a longer word it would be but a part.
  if (/\w$/.test(before)) return false
  if (bare.length === 66) return /^0[23]/.test(bare)
  return bare.length === 64 && (isCalled(HASHES, before) || BLOCK_LINE.test(before))
}

/** Execution's line of a block calls the block's id just `id`. */
const BLOCK_LINE = /__exec_block,bl= {0,20}\d{1,20},id=$/
const LABEL = /(?:^|[^\w-])([\w-]{1,40})\\{0,4}["']?\s{0,2}[=:(]?\s{0,2}(?:Some\()?\\{0,4}["']?$/
const HASHES = new Set([
  'hash',
  'root',
  'parent',
  'tx',
  'blockhash',
  'block id',
  'parent id',
  'topic',
  'topic0',
  'topic1',
  'topic2',
  'topic3',
])
const COMMITS = new Set(['commit', 'revision'])
const INVOCATIONS = new Set(['invocation', 'invocation id'])

/** By the last words of the label: `block_id`, `parentHash`, `tx`. */
const isCalled = (names: ReadonlySet<string>, before: string): boolean => {
  const [, label = ''] = LABEL.exec(before) ?? []
  const words = label
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[_-]/)
  return names.has(words.at(-1) ?? '') || names.has(words.slice(-2).join(' '))
}

/** What git and systemd call things by. */
const isSparedId = (word: string, before: string): boolean =>
  (/^[0-9a-f]{40}$/.test(word) && isCalled(COMMITS, before)) ||
  (/^[0-9a-f]{32}$/.test(word) && isCalled(INVOCATIONS, before))

/** Signs mixed in one long word as in tokens and base64, and not as in names and figures. */
export const isLongWord = (padded: string, before: string): boolean => {
  const word = padded.replace(/=+$/, '')
  if (UUID.test(word)) return true
  if (!/\d/.test(word)) return /[a-z]/.test(word) && /[A-Z]/.test(word) && !isCamel(word)
  return (
    /[A-Za-z]/.test(word) &&
    !isName(word) &&
    !/^\d+[a-z]{1,3}$/.test(word) &&
    // What is left of such digits has been spared.
    !/^(?:0x)?[0-9a-f]{64,66}$/i.test(word) &&
    !isSparedId(word, before)
  )
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i

/** `TimeoutCertificate`, `X-Forwarded-For`, `eth_getBlockByNumber`. */
const isCamel = (word: string): boolean => word.split(/[_-]/).every((part) => CAMEL.test(part))
/** Of two letters only such words: random letters are full of those. */
const CAMEL = /^[a-z]*(?:[A-Z]{1,5}[a-z]{2,}|By|Id|In|Is|No|Of|On|To)*[A-Z]{0,5}$/

/** `raptorcast_v2`, `ip-10-0-0-12`, `tokio-runtime-worker-3`. */
const isName = (word: string): boolean =>
  word
    .split(/[_-]/)
    .every((part) => /^(?:(?:[a-z]*|[A-Z]*|[A-Z][a-z]*)\d{0,3}|\d{1,20})$/.test(part))

/** Whether a word with slashes in it may be a path or a sum, rather than base64. */
export const isPathLike = (word: string): boolean =>
  !word.includes('/') ||
  !(/[a-z]/.test(word) && /[A-Z]/.test(word) && /\d/.test(word)) ||
  word.split('/').every((part) => part === '' || isName(part))
