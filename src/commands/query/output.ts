import {
  checkPlace,
  type GrowingFile,
  isThere,
  openGrowingFile,
  partialOf,
} from '../../sources/growing-file.ts'

/** The checkpoint file of a run that writes this output file. */
export const checkpointOf = (file: string): string => `${file}.checkpoint`

/** Opens an output file, which gets its name when it is complete. */
export const openOutput = (file: string): Promise<GrowingFile> => openGrowingFile(file)

/** The name of an incomplete output file. */
export const partialPathOf = (file: string): string => partialOf(file)

/** Checks at the start, before hours of reading, that the file can be written. Throws a SourceError. */
export const checkOutput = (file: string): Promise<void> => checkPlace(file)

/** Whether a checkpoint file exists. */
export const exists = (file: string): Promise<boolean> => isThere(file)
