import { wordlist } from '@scure/bip39/wordlists/english.js'

const BETWEEN = String.raw`(?:\s{1,4}|\s?\\{0,4}["']?\s?[,;]\s?\\{0,4}["']?|\s?[,;]?\s?\(?\d{1,2}[.:)=]\s?)`
/** Twelve or more words of the length of mnemonic words, in any list format. */
const WORDS = new RegExp(`\\b(?:[a-z]{3,8}${BETWEEN}){11,}[a-z]{3,8}\\b`, 'gi')
/** A label after the phrase has a value of its own. */
const LAST_LABEL = /[^a-z]{1,8}(?:password|secret|token|cookie|seed)$/i

/** The shortest recovery phrase of BIP-39 has twelve words. */
const WINDOW = 12
/** Words of a window that are in the list: a typing error does not hide a phrase, and a sentence has no such window. */
const ENOUGH = 9

let mnemonicWords: ReadonlySet<string> | undefined
/** The first four letters of a word identify it. */
const isMnemonicWord = (word: string): boolean => {
  mnemonicWords ??= new Set(wordlist.flatMap((one) => [one, one.slice(0, 4)]))
  return mnemonicWords.has(word.toLowerCase())
}

/** Replaces each recovery phrase: twelve words in a row of which nine are in the English word list of BIP-39, in whole or
 * by their first four letters. In another language it is found by its label only. */
export const redactPhrases = (text: string, replacement: () => string): string =>
  text.replaceAll(WORDS, (run) => {
    const [label = ''] = LAST_LABEL.exec(run) ?? []
    const list = run.slice(0, run.length - label.length)
    const span = phraseIn(list)
    return span === null ? run : list.slice(0, span.from) + replacement() + list.slice(span.to) + label
  })

/** From the first to the last word of the windows in a list of words; null if it has none. */
const phraseIn = (list: string): { from: number; to: number } | null => {
  const words = [...list.matchAll(/[a-z]{3,8}/gi)].map(({ index, 0: word }) => ({
    from: index,
    to: index + word.length,
    isListed: isMnemonicWord(word),
  }))
  let listed = 0
  let from: number | undefined
  let to = 0
  for (const [at, word] of words.entries()) {
    const first = words[at - WINDOW + 1]
    listed += Number(word.isListed) - Number(words[at - WINDOW]?.isListed ?? false)
    if (first === undefined || listed < ENOUGH) continue
    from ??= first.from
    to = word.to
  }
  return from === undefined ? null : { from, to }
}
