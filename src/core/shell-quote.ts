/** A word as a POSIX shell reads it back; quoted only where it must be. */
export const shellQuote = (word: string): string =>
  /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
