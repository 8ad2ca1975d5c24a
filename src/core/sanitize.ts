/**
 * Terminal control sequences, 7-bit and 8-bit: colours, cursor movement, titles, queries. An 8-bit colour sequence that
 * was decoded from bytes leaves U+FFFD.
 */
const SEQUENCES =
  // oxlint-disable-next-line no-control-regex -- that is what is to be taken away
  /(?:\u001b\[|\u009b)[0-?]{0,64}[ -/]{0,8}[@-~]|(?:\u001b\]|\u009d)[^\u0007\u001b\u009c]{0,4096}(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]{0,8}[0-Z\\^-~]|\ufffd\d[\d;]{0,16}m/g
/**
 * Characters without width, or that change the text direction. They are removed, so that a word reads as if they were
 * absent.
 */
const WITHOUT_WIDTH = /\p{Default_Ignorable_Code_Point}/gu
/** Control characters between two letters, most of which are invisible. */
const WITHIN_WORDS =
  // oxlint-disable-next-line no-control-regex -- that is what is to be taken away
  /(?<=\w)[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f]{1,16}(?=\w)/g
const CONTROLS =
  // oxlint-disable-next-line no-control-regex -- that is what is to be taken away
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029]/g

/**
 * Removes everything from a text that a terminal would interpret or that hides a word from redaction. Line breaks are
 * kept.
 */
export const sanitize = (text: string): string =>
  text
    .replaceAll(/\r\n/g, '\n')
    .replaceAll(SEQUENCES, '')
    .replaceAll(WITHOUT_WIDTH, '')
    .replaceAll(WITHIN_WORDS, '')
    .replaceAll(CONTROLS, (sign) => (sign === '\t' ? ' ' : '\ufffd'))
