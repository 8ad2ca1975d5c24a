import {
  checkWritable,
  type PartialFile,
  exists,
  openPartialFile,
  partialPath,
} from '../../sources/partial-file.ts'

/** Where a run that writes into this file has its checkpoint. */
export const checkpointOf = (file: string): string => `${file}.checkpoint`

/** A file that has its name once it is whole. */
export const openOutput = (file: string): Promise<PartialFile> => openPartialFile(file)

/** Where what is not whole is left. */
export const leftIn = (file: string): string => partialPath(file)

/** Before hours of reading: whether it can be written at all. Throws a SourceError. */
export const checkOutput = (file: string): Promise<void> => checkWritable(file)

/** Whether there is a checkpoint to go on from. */
export const isKept = (file: string): Promise<boolean> => exists(file)
