import { type Dice, oneOf } from '../support/store-cases.ts'

type Edit = (text: string, dice: Dice, seeds: readonly string[]) => string

/** Numbers at and beyond the limits of the types that formats use. */
const NUMBERS = [
  '0',
  ...'-0 -1 1.5 00 4294967296 9007199254740991 9007199254740992 9007199254740993 9223372036854775808'.split(' '),
  ...'18446744073709551615 18446744073709551616 99999999999999999999 1e15 1e308 1e400 -1e400'.split(' '),
  ...'NaN Infinity 0x10 ٣'.split(' '),
] as const

/** Signs of the formats, and characters that a terminal interprets or that hide a word. */
const SIGNS = [
  '',
  ' ',
  ...'\n \r\n \t " \' \\ \\" { } [ ] ( ) < , : ; = / % # - . & * |'.split(' '),
  ...'\0 \u001B[31m \u0085 \u200B \u202E \u2028 \uFEFF \uD800 \uFFFD µ 😀'.split(' '),
  ...'null true __proto__ constructor toString hasOwnProperty'.split(' '),
] as const

/** A sign, or text of a seed. */
export const piece = (dice: Dice, seeds: readonly string[]): string => {
  if (dice(2) === 0) return oneOf(dice, dice(3) === 0 ? NUMBERS : SIGNS)
  const seed = seeds[dice(seeds.length)] ?? ''
  const at = dice(seed.length)
  return seed.slice(at, at + 1 + dice(12))
}

const EDITS: readonly [Edit, ...Edit[]] = [
  (text, dice) => cut(text, dice, ''),
  (text, dice, seeds) => cut(text, dice, piece(dice, seeds)),
  (text, dice, seeds) => insert(text, dice, piece(dice, seeds)),
  (text, dice, seeds) => insert(text, dice, piece(dice, seeds).repeat(1 + dice(40))),
  (text, dice) => text.slice(0, dice(text.length + 1)),
  (text, dice) => replaceOne(text, dice, { pattern: /-?\d+(?:\.\d+)?/g, by: oneOf(dice, NUMBERS) }),
  (text, dice, seeds) => replaceOne(text, dice, { pattern: /\w+/g, by: piece(dice, seeds) }),
  (text, dice, seeds) => replaceOne(text, dice, { pattern: /[^\w\s]+/g, by: piece(dice, seeds) }),
  (text, dice) => {
    const lines = text.split('\n')
    const at = dice(lines.length)
    lines.splice(dice(lines.length), dice(2), lines[at] ?? '')
    return lines.join('\n')
  },
  (text, dice, seeds) => {
    const other = seeds[dice(seeds.length)] ?? ''
    return text.slice(0, dice(text.length + 1)) + other.slice(dice(other.length + 1))
  },
]

/** One to four edits of a seed. JSON is edited as a tree in half of the cases. */
export const mutate = (dice: Dice, seeds: readonly string[]): string => {
  let text = seeds[dice(seeds.length)] ?? ''
  if (/^\s*[[{]/.test(text) && dice(2) === 0) text = editJson(text, dice, seeds)
  for (let times = dice(4); times >= 0; times -= 1) text = oneOf(dice, EDITS)(text, dice, seeds)
  return text
}

const cut = (text: string, dice: Dice, by: string): string => {
  const at = dice(text.length + 1)
  return text.slice(0, at) + by + text.slice(at + 1 + dice(dice(4) === 0 ? 64 : 4))
}

const insert = (text: string, dice: Dice, added: string): string => {
  const at = dice(text.length + 1)
  return text.slice(0, at) + added + text.slice(at)
}

const replaceOne = (text: string, dice: Dice, { pattern, by }: { pattern: RegExp; by: string }): string => {
  pattern.lastIndex = dice(text.length)
  const match = pattern.exec(text)
  return match === null ? text : text.slice(0, match.index) + by + text.slice(match.index + match[0].length)
}

type Json = Record<string, unknown> | unknown[]

/** Replaces, removes or adds a value anywhere in the tree. */
const editJson = (text: string, dice: Dice, seeds: readonly string[]): string => {
  let root: unknown
  try {
    root = JSON.parse(text)
  } catch {
    return text
  }
  if (!isTree(root)) return text
  const branches: Json[] = []
  const collect = (tree: Json): void => {
    branches.push(tree)
    for (const value of Object.values(tree)) if (isTree(value)) collect(value)
  }
  collect(root)
  const branch = branches[dice(branches.length)] ?? root
  const mark = '\uE000'
  if (Array.isArray(branch)) branch.splice(dice(branch.length + 1), dice(2), mark)
  else {
    const names = Object.keys(branch)
    const name = dice(4) === 0 ? piece(dice, seeds) : (names[dice(names.length)] ?? '')
    // Assigned, `__proto__` would not be a key.
    Object.defineProperty(branch, name, { value: mark, enumerable: true, configurable: true, writable: true })
  }
  return JSON.stringify(root).replace(`"${mark}"`, () => jsonValue(dice, seeds))
}

const isTree = (value: unknown): value is Json => typeof value === 'object' && value !== null

const jsonValue = (dice: Dice, seeds: readonly string[]): string => {
  switch (dice(5)) {
    case 0:
      return oneOf(dice, NUMBERS)
    case 1:
      return JSON.stringify(oneOf(dice, NUMBERS))
    case 2:
      return JSON.stringify(piece(dice, seeds))
    case 3:
      return oneOf(dice, ['[]', '{}', 'null', 'true', '""', '[[]]', '{"a":{"b":1}}', '[255,0,-1]', '[1,[2,3],"x"]'])
    default:
      return `${'['.repeat(1 + dice(200))}${']'.repeat(dice(200))}`
  }
}
