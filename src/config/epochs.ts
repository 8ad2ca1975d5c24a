import { z } from 'zod'
import type { EpochLengths } from '../core/epoch.ts'
import { packageFile } from '../core/package.ts'
import { parseConfigFile, readText } from './file.ts'

const FILE = packageFile('networks/epochs.yaml')

const table = z.record(
  z.string(),
  z
    .strictObject({ epochBlocks: z.int().min(1), epochDelayRounds: z.int().min(0), source: z.string() })
    .transform(({ epochBlocks, epochDelayRounds }) => ({ blocks: epochBlocks, delayRounds: epochDelayRounds })),
)

/** Reads the length of the epochs of each network that the package knows. */
export const readEpochLengths = (): EpochLengths =>
  new Map(Object.entries(table.parse(parseConfigFile(FILE, readText(FILE, 'the file with epochs')).value)))
