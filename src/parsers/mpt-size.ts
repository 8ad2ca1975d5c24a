/** Binary multiples under decimal names: `1.00 Kb` is 1024 bytes. */
const UNITS = ['bytes', 'Kb', 'Mb', 'Gb', 'Tb', 'Pb'] as const

/** A size of the storage tool, for use inside a pattern. */
export const SIZE = String.raw`\d{1,6}\.\d\d (?:${UNITS.join('|')})`

const WHOLE = new RegExp(`^${SIZE}$`)

/** `24.30 Gb` in bytes, to the nearest; null when it is not such a size. Two decimals are all there is. */
export const parseSize = (text: string): number | null => {
  if (!WHOLE.test(text)) return null
  const [amount = '', unit = ''] = text.split(' ')
  return Math.round(Number(amount) * 1024 ** UNITS.findIndex((name) => name === unit))
}

/** `16.24` percent as the nearest number to 0.1624. */
export const parsePercent = (digits: string): number => Number(`${digits}e-2`)
