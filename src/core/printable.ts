/**
 * What colours a terminal, moves its cursor, sets its title or asks it questions, with seven bits or
 * eight. Of a colour in eight bits that came as bytes, reading them has left U+FFFD.
 */
const SEQUENCES =
  // oxlint-disable-next-line no-control-regex -- that is what is to be taken away
  /(?:\u001b\[|\u009b)[0-?]{0,64}[ -/]{0,8}[@-~]|(?:\u001b\]|\u009d)[^\u0007\u001b\u009c]{0,4096}(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]{0,8}[0-Z\\^-~]|\ufffd\d[\d;]{0,16}m/g
/** What has no width, or turns the direction of what follows: a word is read as if it was not there. */
const WITHOUT_WIDTH = /\p{Default_Ignorable_Code_Point}/gu
/** Between two letters, most control characters are not seen either. */
const WITHIN_WORDS =
  // oxlint-disable-next-line no-control-regex -- that is what is to be taken away
  /(?<=\w)[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f]{1,16}(?=\w)/g
const CONTROLS =
  // oxlint-disable-next-line no-control-regex -- that is what is to be taken away
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029]/g

/** A text of the node's with nothing in it that a terminal would obey, or that hides a word from us. Line ends stay. */
export const printable = (text: string): string =>
  text
    .replaceAll(/\r\n/g, '\n')
    .replaceAll(SEQUENCES, '')
    .replaceAll(WITHOUT_WIDTH, '')
    .replaceAll(WITHIN_WORDS, '')
    .replaceAll(CONTROLS, (sign) => (sign === '\t' ? ' ' : '\ufffd'))
