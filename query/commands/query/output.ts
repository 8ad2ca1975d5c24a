import { withLock } from '../../../src/sources/lock.ts'
import { checkWritable, openPartialFile, type PartialFile, partialPath } from '../../../src/sources/durable.ts'

/** The checkpoint file of a run that writes this output file. */
export const checkpointOf = (file: string): string => `${file}.checkpoint`

/** Opens an output file, which gets its name when it is complete. */
export const openOutput = (file: string): Promise<PartialFile> => openPartialFile(file)

/** The name of an incomplete output file. */
export const partialPathOf = (file: string): string => partialPath(file)

/** Checks at the start, before hours of reading, that the file can be written. Throws a SourceError. */
export const checkOutput = (file: string): Promise<void> => checkWritable(file)

/** Runs `work` while no other run on this host can use the checkpoint file. Throws a SourceError if one does. */
export const withCheckpointLocked = <T>(file: string, work: () => Promise<T>): Promise<T> =>
  // Only Linux has such locks.
  process.platform === 'linux'
    ? withLock([file], { doing: `use ${file}`, taken: 'another run of chain-agent is using it' }, work)
    : work()
