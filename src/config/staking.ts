import { z } from 'zod'
import type { EpochLength, EpochLengths } from '../domain/epoch.ts'
import { packageFile } from '../core/package.ts'
import { parseConfigFile, readText } from './file.ts'

const count = z.int().positive()
const amount = count.transform(BigInt)
const limits = z.strictObject({
  setLimit: count,
  minimumStake: amount,
  minimumSelfStake: amount,
  withdrawalDelay: amount,
  source: z.string(),
})
const chain = z
  .strictObject({ epochBlocks: count, delayRounds: count, source: z.string() })
  .transform(({ epochBlocks: blocks, delayRounds }): EpochLength => ({ blocks, delayRounds }))
const table = z.object({ default: limits }).catchall(chain)

/** Epoch and limits of the staking precompile of a chain; stakes in tokens. */
export type StakingConstants = Omit<z.output<typeof limits>, 'source'> & {
  /** Of an epoch; null if it is unknown. */
  readonly length: EpochLength | null
}

/** The constants of a chain by its id. */
export type StakingNetworks = (chainId: bigint) => StakingConstants

const readTable = () => {
  const file = packageFile('networks/staking.yaml')
  return table.parse(parseConfigFile(file, readText(file, 'the constants of the staking precompile')).value)
}

/** Reads the shipped constants. */
export const readStakingNetworks = (): StakingNetworks => {
  const { default: common, ...chains } = readTable()
  const byId = new Map(Object.entries(chains))
  return (chainId) => ({ ...common, length: byId.get(chainId.toString()) ?? null })
}

/** Reads the length of the epochs of each network that the package knows. */
export const readEpochLengths = (): EpochLengths => {
  const { default: _, ...chains } = readTable()
  return new Map(Object.entries(chains))
}
