import {
  checkPlace,
  type GrowingFile,
  isThere,
  openGrowingFile,
  partialOf,
} from '../../sources/growing-file.ts'

/** Where a run that writes into this file has its checkpoint. */
export const checkpointOf = (file: string): string => `${file}.checkpoint`

/** A file that has its name once it is whole. */
export const openOutput = (file: string): Promise<GrowingFile> => openGrowingFile(file)

/** Where what is not whole is left. */
export const leftIn = (file: string): string => partialOf(file)

/** Before hours of reading: whether it can be written at all. Throws a SourceError. */
export const checkOutput = (file: string): Promise<void> => checkPlace(file)

/** Whether there is a checkpoint to go on from. */
export const isKept = (file: string): Promise<boolean> => isThere(file)
