import { StoreError } from '../errors.ts'

/** Bytes as a constant in a statement. The pattern is what keeps a value from being more than that. */
export const blobOf = (hex: string): string => {
  if (!/^0x(?:[0-9a-f]{2})*$/.test(hex))
    throw new StoreError('unavailable', {
      doing: 'ask the store',
      happened: 'a value is not hex in lower case',
      evidence: hex,
    })
  return `unhex('${hex.slice(2)}')`
}

/** A whole number as a constant in a statement. */
export const integerOf = (number: number): string => {
  if (!Number.isSafeInteger(number))
    throw new StoreError('unavailable', {
      doing: 'ask the store',
      happened: 'a number is not whole or too large',
      evidence: `${number}`,
    })
  return `${number}`
}
