/**
 * What the node means by an error. Its codes differ between versions and makers (-32005 is both "slower" and "less"), so the
 * words decide, and the code only where they say nothing.
 */
export type Refusal = 'overload' | 'too large' | 'unknown tag' | 'no'

export const refusalOf = (code: number | null, words: string): Refusal => {
  if (OVERLOAD.test(words)) return 'overload'
  if (TOO_LARGE.some((pattern) => pattern.test(words))) return 'too large'
  if (code === LIMIT_EXCEEDED || code === 429) return 'overload'
  return UNKNOWN_TAG.test(words) ? 'unknown tag' : 'no'
}

const LIMIT_EXCEEDED = -32_005

const OVERLOAD =
  /overload|try again later|too many (?:requests|connections)|rate.?limit|requests? (?:count|rate|limit)|limit of requests|requests? per|throttl|capacity|busy|compute units/i

const THING = String.raw`(?:range|blocks?|results?|logs?|response|answer|body|payload|content|size|entit(?:y|ies)|query|batch|items)`
const MUCH = String.raw`(?:too (?:large|big|wide|long|many|high)|exceed\w*|limit(?:ed|s)?|more than|greater than|larger than|max(?:imum)?|up to)`

const TOO_LARGE = [
  new RegExp(String.raw`\b${THING}\b.*\b${MUCH}\b`, 'is'),
  new RegExp(String.raw`\b${MUCH}\b.*\b${THING}\b`, 'is'),
  /time.{0,2}out|timed out|deadline exceeded|took too long/i,
]

/** "Not found" is another thing: the tag is known, and there is no such block yet. */
const UNKNOWN_TAG =
  /invalid|unknown (?:block )?tag|unsupported|not supported|cannot unmarshal|without 0x|hex string|parse/i
