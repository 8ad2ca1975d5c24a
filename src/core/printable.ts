/** What colours a terminal, moves its cursor, sets its title or asks it questions. */
const SEQUENCES =
  // oxlint-disable-next-line no-control-regex -- that is what is to be taken away
  /\u001b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\u0007\u001b]{0,4096}(?:\u0007|\u001b\\)|[@-Z\\^_])/g
/** Besides control characters, signs that have no width, or turn the direction of what follows. */
const INVISIBLE =
  // oxlint-disable-next-line no-control-regex -- that is what is to be taken away
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

/** A text of the node's with nothing in it that a terminal would obey. Line ends stay. */
export const printable = (text: string): string =>
  text
    .replaceAll(/\r\n/g, '\n')
    .replaceAll(SEQUENCES, '')
    .replaceAll(INVISIBLE, (sign) => (sign === '\t' ? ' ' : '\ufffd'))
