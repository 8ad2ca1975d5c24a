import { parse } from 'smol-toml'
import { z } from 'zod'
import { ParseError } from '../core/errors.ts'
import { LIMITS } from '../core/limits.ts'
import type { SetMember } from '../domain/leader-schedule.ts'
import { withinBounds } from '../core/bounds.ts'

/** The set of validators of an epoch. */
export interface ValidatorSet {
  readonly epoch: bigint
  readonly members: readonly SetMember[]
}

const u64 = z.bigint().refine((value) => withinBounds('u64', value) !== null, 'expected an unsigned 64-bit integer')
const stake = z
  .union([
    z.bigint(),
    z
      .string()
      .regex(/^0x[0-9a-fA-F]{1,64}$/)
      .transform(BigInt),
  ])
  .refine((value) => withinBounds('wei', value) !== null, 'expected an amount in wei')
const secpKey = z
  .string()
  .regex(/^(?:0x)?0[23][0-9a-fA-F]{64}$/)
  .transform((key) => key.replace(/^0x/, '').toLowerCase())

const setsSchema = z.object({
  validator_sets: z
    .array(z.object({ epoch: u64, validators: z.array(z.object({ node_id: secpKey, stake })).max(LIMITS.set.members) }))
    .max(LIMITS.set.epochs),
})

/** Parses the file with the sets of validators, `validators/validators.toml`. Throws a ParseError. */
export const parseValidatorSets = (text: string): readonly ValidatorSet[] => {
  const { data, error } = setsSchema.safeParse(parseToml('the sets of validators', text))
  if (!data) throw new ParseError('the sets of validators', expectation(error), text)
  return data.validator_sets.map(({ epoch, validators }) => ({
    epoch,
    members: validators.map(({ node_id, stake: amount }) => ({ secpKey: node_id, stake: amount })),
  }))
}

const forkpointSchema = z.object({
  validator_sets: z.array(z.object({ epoch: u64, round: u64.optional() })).max(LIMITS.set.epochs),
})

/** Parses the first rounds of the epochs in a forkpoint, `forkpoint/forkpoint.toml`. Throws a ParseError. */
export const parseEpochStarts = (text: string): ReadonlyMap<bigint, bigint> => {
  const { data, error } = forkpointSchema.safeParse(parseToml('the forkpoint', text))
  if (!data) throw new ParseError('the forkpoint', expectation(error), text)
  return new Map(
    data.validator_sets.flatMap(({ epoch, round }): readonly (readonly [bigint, bigint])[] =>
      round === undefined ? [] : [[epoch, round]],
    ),
  )
}

/** The node reads the setting as u16, and does not start without it. */
const configSchema = z.object({ statesync_threshold: z.bigint().min(0n).max(65_535n).transform(Number) })

/** Parses `statesync_threshold` of the configuration of consensus, `node.toml`. Throws a ParseError. */
export const parseStatesyncThreshold = (text: string): number => {
  const { data, error } = configSchema.safeParse(parseToml('node.toml', text))
  if (!data) throw new ParseError('node.toml', expectation(error), text)
  return data.statesync_threshold
}

const parseToml = (what: string, text: string): unknown => {
  const { length, depth } = LIMITS.set
  if (text.length > length) throw new ParseError(what, `at most ${length} characters`, text)
  try {
    return parse(text, { integersAsBigInt: true, maxDepth: depth })
  } catch {
    throw new ParseError(what, 'TOML', text)
  }
}

const expectation = (error: z.ZodError): string => {
  const [issue] = error.issues
  return issue ? `a good ${issue.path.join('.')} (${issue.message})` : 'the known keys'
}
