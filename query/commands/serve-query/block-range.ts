import { InvalidArgumentError } from 'commander'

/** Inclusive at both ends. */
export interface BlockRange {
  readonly from: number
  readonly to: number
}

/** Parses `FROM-TO`, or one block number. Throws an InvalidArgumentError. */
export const readBlockRange = (text: string): BlockRange => {
  const [, first, last = first] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(text) ?? []
  if (first === undefined || last === undefined)
    throw new InvalidArgumentError('expected a block number or FROM-TO, such as 1000-1999')
  if (Number(last) < Number(first)) throw new InvalidArgumentError('the last block is before the first')
  return { from: Number(first), to: Number(last) }
}
