/** A block number or an index: a number, or a string in decimal or hexadecimal digits; undefined for anything else. */
export const parseInteger = (value: unknown): number | undefined => {
  const number = typeof value === 'string' ? fromText(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0
    ? number
    : undefined
}

const fromText = (text: string): number | undefined =>
  /^(?:\d{1,16}|0x[0-9a-f]{1,14})$/i.test(text) ? Number(text) : undefined
