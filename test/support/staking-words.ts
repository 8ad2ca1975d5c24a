/** Return values of the staking precompile, encoded by hand: as the contract ABI has it. */

export const word = (value: bigint | number | boolean): string => BigInt(value).toString(16).padStart(64, '0')

const padded = (bytes: string): string => bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0')

export interface ValidatorValues {
  readonly auth: string
  readonly flags: bigint
  readonly stake: bigint
  readonly accumulator: bigint
  readonly commission: bigint
  readonly unclaimed: bigint
  readonly consensusStake: bigint
  readonly consensusCommission: bigint
  readonly snapshotStake: bigint
  readonly snapshotCommission: bigint
  readonly secp: string
  readonly bls: string
}

export const validatorWords = (of: ValidatorValues): string =>
  [
    of.auth.slice(2).padStart(64, '0'),
    ...[of.flags, of.stake, of.accumulator, of.commission, of.unclaimed].map(word),
    ...[of.consensusStake, of.consensusCommission, of.snapshotStake, of.snapshotCommission].map(word),
    ...[0x180, 0x1e0, 33].map(word),
    padded(of.secp),
    word(48),
    padded(of.bls),
  ].join('')

export const pageWords = (isLast: boolean, next: bigint, ids: readonly bigint[]): string =>
  [isLast, next, 0x60, ids.length, ...ids].map(word).join('')
