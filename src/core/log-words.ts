/** Whether hex digits in a log are public: public keys, and hashes that are labelled as such. */
export const isPublicHex = (digits: string, before: string): boolean => {
  const bare = digits.replace(/^0x/i, '')
  // The digits are part of a longer word.
  if (/\w$/.test(before)) return false
  if (bare.length === 66) return /^0[23]/.test(bare)
  return bare.length === 64 && (isCalled(HASHES, before) || BLOCK_LINE.test(before))
}

/** Execution's line of a block labels the block's id only `id`. */
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

/** Matches the last words of the label: `block_id`, `parentHash`, `tx`. */
const isCalled = (names: ReadonlySet<string>, before: string): boolean => {
  const [, label = ''] = LABEL.exec(before) ?? []
  const words = label
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[_-]/)
  return names.has(words.at(-1) ?? '') || names.has(words.slice(-2).join(' '))
}

/** Ids of git commits and systemd invocations. */
const isPublicId = (word: string, before: string): boolean =>
  (/^[0-9a-f]{40}$/.test(word) && isCalled(COMMITS, before)) ||
  (/^[0-9a-f]{32}$/.test(word) && isCalled(INVOCATIONS, before))

/** Whether a long word mixes characters like a token or base64, unlike names and numbers. */
export const isLongWord = (padded: string, before: string): boolean => {
  const word = padded.replace(/=+$/, '')
  if (UUID.test(word)) return true
  if (!/\d/.test(word)) return /[a-z]/.test(word) && /[A-Z]/.test(word) && !isCamel(word)
  return (
    /[A-Za-z]/.test(word) &&
    !isName(word) &&
    !/^\d+[a-z]{1,3}$/.test(word) &&
    // Remaining digits of this length were found to be public.
    !/^(?:0x)?[0-9a-f]{64,66}$/i.test(word) &&
    !isPublicId(word, before)
  )
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i

/** `TimeoutCertificate`, `X-Forwarded-For`, `eth_getBlockByNumber`. */
const isCamel = (word: string): boolean => word.split(/[_-]/).every((part) => CAMEL.test(part))
/** Two-letter words only from this list: random text is full of them. */
const CAMEL = /^[a-z]*(?:[A-Z]{1,5}[a-z]{2,}|By|Id|In|Is|No|Of|On|To)*[A-Z]{0,5}$/

/** `raptorcast_v2`, `ip-10-0-0-12`, `tokio-runtime-worker-3`. */
const isName = (word: string): boolean =>
  word.split(/[_-]/).every((part) => /^(?:(?:[a-z]*|[A-Z]*|[A-Z][a-z]*)\d{0,3}|\d{1,20})$/.test(part))

/** Whether a word with slashes is a path or a fraction rather than base64. */
export const isPathLike = (word: string): boolean =>
  !word.includes('/') ||
  !(/[a-z]/.test(word) && /[A-Z]/.test(word) && /\d/.test(word)) ||
  word.split('/').every((part) => part === '' || isName(part))
