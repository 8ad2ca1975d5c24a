import { type Element, type Expression, vector } from './functions.ts'
import { keyOf, type Labels, perLabels } from './series.ts'

interface Matching {
  /** `on (labels)`; otherwise all labels but these. */
  readonly isOn: boolean
  readonly labels: readonly string[]
  /** The side that may have several elements for one of the other. */
  readonly group: 'left' | 'right' | undefined
  /** Labels that the result takes from the side with one element. */
  readonly include: readonly string[]
}

interface Binary {
  readonly left: Expression
  readonly right: Expression
  readonly operator: string
  readonly isBool: boolean
  readonly matching: Matching
}

const ARITHMETIC: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
}

const COMPARISONS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '>': (a, b) => a > b,
  '<': (a, b) => a < b,
  '>=': (a, b) => a >= b,
  '<=': (a, b) => a <= b,
}

/** Undefined for operands or an operator that are not supported. */
export const compileBinary = ({ left, right, operator, isBool, matching }: Binary): Expression | undefined => {
  const apply = valueOf(operator, isBool)
  if (left.type === 'vector' && right.type === 'vector') {
    const key = perLabels((labels) => signature(labels, matching))
    const setOperator = SET_OPERATORS[operator]
    if (setOperator) {
      return vector((context) => {
        const elements = left.evaluate(context)
        // Most conditions are false: what would exclude elements of an empty side is not evaluated.
        if (elements.length === 0 && operator !== 'or') return elements
        return setOperator(elements, right.evaluate(context), key)
      })
    }
    return (
      apply &&
      vector((context) => matchOneSide(left.evaluate(context), right.evaluate(context), { key, matching, apply }))
    )
  }
  const isSwapped = left.type === 'scalar'
  const [side, number] = isSwapped ? [right, left] : [left, right]
  if (!apply || side.type !== 'vector' || number.type !== 'scalar') return undefined
  // A comparison that filters keeps the value of the vector.
  const filters = !isBool && operator in COMPARISONS
  return vector((context) => {
    const other = number.evaluate(context)
    return side.evaluate(context).flatMap(({ labels, value }): readonly Element[] => {
      const result = isSwapped ? apply(other, value) : apply(value, other)
      return result === undefined ? [] : [{ labels, value: filters ? value : result }]
    })
  })
}

/** The result for two values; undefined if a comparison filters the element out. */
const valueOf = (operator: string, isBool: boolean): Apply | undefined => {
  const compare = COMPARISONS[operator]
  if (!compare) return ARITHMETIC[operator]
  return isBool ? (a, b) => Number(compare(a, b)) : (a, b) => (compare(a, b) ? a : undefined)
}

const signature = (labels: Labels, { isOn, labels: named }: Matching): string =>
  isOn
    ? named.map((label) => labels[label] ?? '').join('\0')
    : keyOf(Object.fromEntries(Object.entries(labels).filter(([label]) => !named.includes(label))))

type Key = (labels: Labels) => string
type SetOperator = (left: readonly Element[], right: readonly Element[], key: Key) => readonly Element[]

/** Selects the elements that have, or do not have, the labels of one of the others. */
const hasMatch = (others: readonly Element[], key: Key, isWanted: boolean) => {
  const keys = new Set(others.map(({ labels }) => key(labels)))
  return ({ labels }: Element): boolean => keys.has(key(labels)) === isWanted
}

const SET_OPERATORS: Readonly<Record<string, SetOperator>> = {
  and: (left, right, key) => left.filter(hasMatch(right, key, true)),
  unless: (left, right, key) => left.filter(hasMatch(right, key, false)),
  or: (left, right, key) => [...left, ...right.filter(hasMatch(left, key, false))],
}

type Apply = (a: number, b: number) => number | undefined

/** Pairs each element with the one of the other side that has the same labels. Throws if there are several. */
const matchOneSide = (
  left: readonly Element[],
  right: readonly Element[],
  { key, matching, apply }: { readonly key: Key; readonly matching: Matching; readonly apply: Apply },
): readonly Element[] => {
  const [many, one] = matching.group === 'right' ? [right, left] : [left, right]
  const byKey = new Map<string, Element>()
  for (const element of one) {
    const name = key(element.labels)
    if (byKey.has(name)) throw new RangeError('several elements of the right side match one of the left side')
    byKey.set(name, element)
  }
  const seen = new Set<string>()
  return many.flatMap((element) => {
    const name = key(element.labels)
    const other = byKey.get(name)
    if (!other) return []
    if (matching.group === undefined && seen.has(name))
      throw new RangeError('several elements of the left side match one of the right side')
    const result = matching.group === 'right' ? apply(other.value, element.value) : apply(element.value, other.value)
    if (result === undefined) return []
    seen.add(name)
    return [{ labels: labelsOf(element, other, matching), value: result }]
  })
}

const labelsOf = (many: Element, one: Element, { isOn, labels, group, include }: Matching): Labels => {
  if (group !== undefined) {
    const taken = Object.entries(one.labels).filter(([label]) => include.includes(label))
    return { ...many.labels, ...Object.fromEntries(taken) }
  }
  return Object.fromEntries(Object.entries(many.labels).filter(([label]) => labels.includes(label) === isOn))
}
