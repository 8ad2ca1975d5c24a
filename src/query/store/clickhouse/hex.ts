const BYTES = /^0x(?:[0-9a-f]{2})*$/

/** A string of these bytes in a statement. Nothing that is not hex gets there. */
export const literal = (hex: string, bytes: number): string => {
  if (!BYTES.test(hex) || hex.length !== 2 + 2 * bytes)
    throw new RangeError(`not ${bytes} bytes of hex: ${hex.slice(0, 80)}`)
  return `'${hex.slice(2).replaceAll(/../g, '\\x$&')}'`
}
