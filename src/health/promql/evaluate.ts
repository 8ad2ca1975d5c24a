import type { SyntaxNode } from '@lezer/common'
import { parser } from '@prometheus-io/lezer-promql'
import { parseDuration, PROMQL_UNITS, second } from '../../core/units.ts'
import { compileBinary } from './binary.ts'
import {
  AGGREGATIONS,
  type Element,
  type Evaluation,
  type Expression,
  RANGE_FUNCTIONS,
  type RangeSamples,
  SCALAR_FUNCTIONS,
  vector,
} from './functions.ts'
import { type Labels, type Matcher, perLabels, type Point, type SeriesSource } from './series.ts'

/** An expression outside the part of PromQL that the rules use, or no PromQL. */
class PromqlError extends Error {
  override name = 'PromqlError'
}

/** How far back an instant selector looks for a sample. */
const LOOKBACK_MS = 300 * second

export interface CompiledPromql {
  /** Returns an instant vector. Throws if the series do not match one to one where they must. */
  evaluate(context: Evaluation): readonly Element[]
  /** The series that it reads, and how far back, in milliseconds. */
  readonly reads: readonly SeriesRange[]
}

export interface SeriesRange {
  /** Whether a series with this name and these labels may be selected; labels that are not given may have any value. */
  matches(name: string, labels?: Labels): boolean
  readonly range: number
}

/** Compiles an expression. Throws a PromqlError. */
export const compilePromql = (expression: string): CompiledPromql => {
  const top = parsePromql(expression)
  const root = top.firstChild
  const compiled = root && compile(root, expression)
  if (compiled?.type !== 'vector') throw new PromqlError(`not an instant vector: ${expression}`)
  return { evaluate: compiled.evaluate, reads: readsOf(top, expression) }
}

/** The top node of an expression. Throws a PromqlError. */
export const parsePromql = (expression: string): SyntaxNode => {
  const tree = parser.configure({ top: 'PromQL' }).parse(expression)
  tree.iterate({
    enter: ({ type, from }) => {
      if (type.isError) throw new PromqlError(`not PromQL at character ${from}: ${expression}`)
    },
  })
  return tree.topNode
}

/** The metrics that an expression selects; the ranges around a selector add up. */
const readsOf = (root: SyntaxNode, text: string): readonly SeriesRange[] => {
  const found: SeriesRange[] = []
  root.cursor().iterate((cursor) => {
    if (cursor.name !== 'VectorSelector') return
    let range = LOOKBACK_MS
    for (let above = cursor.node.parent; above; above = above.parent) {
      const duration = /^(?:MatrixSelector|SubqueryExpr)$/.test(above.name) ? above.getChild('DurationExpr') : null
      if (duration) range += numberOf(text.slice(duration.from, duration.to)) * second
    }
    const { name, matchers } = partsOf(cursor.node, text)
    found.push({
      range,
      matches: (one, labels = {}) =>
        (name === undefined || one === name) &&
        matchers.every(({ label, matches }) => {
          const value = label === '__name__' ? one : labels[label]
          return value === undefined || matches(value)
        }),
    })
  })
  return found
}

const compile = (node: SyntaxNode, text: string): Expression => {
  const slice = (of: SyntaxNode): string => text.slice(of.from, of.to)
  const unsupported = (): PromqlError => new PromqlError(`not supported (${node.name}): ${slice(node)}`)
  const child = (name: string): SyntaxNode => {
    const found = node.getChild(name)
    if (!found) throw unsupported()
    return found
  }
  switch (node.name) {
    case 'ParenExpr':
      if (!node.firstChild) throw unsupported()
      return compile(node.firstChild, text)
    case 'NumberDurationLiteral': {
      const value = numberOf(slice(node))
      return { type: 'scalar', evaluate: () => value }
    }
    case 'StringLiteral':
      return { type: 'text', text: unquote(slice(node)) }
    case 'VectorSelector': {
      const select = selectorOf(node, text)
      return vector((context) => lastPoints(select, context, (labels, { value }) => ({ labels, value })))
    }
    case 'MatrixSelector': {
      const select = selectorOf(child('VectorSelector'), text)
      const length = numberOf(slice(child('DurationExpr'))) * second
      return {
        type: 'range',
        evaluate: ({ source, at: to }) =>
          select(source).flatMap((series) => {
            const points = series.within(to - length, to)
            return points.length === 0 ? [] : [{ labels: series.labels, points, from: to - length, to }]
          }),
      }
    }
    case 'SubqueryExpr': {
      const inner = compile(node.firstChild ?? node, text)
      const [length = 0, step = 0] = node.getChildren('DurationExpr').map((one) => numberOf(slice(one)) * second)
      if (inner.type !== 'vector' || step === 0) throw unsupported()
      return { type: 'range', evaluate: (context) => subquery(inner.evaluate, { length, step }, context) }
    }
    case 'FunctionCall':
      return callOf(slice(child('FunctionIdentifier')), argumentsOf(child('FunctionCallBody'), text), { node, text })
    case 'AggregateExpr':
      return aggregationOf(node, text)
    case 'BinaryExpr': {
      const [left, right] = [node.firstChild, node.lastChild]
      if (!left || !right) throw unsupported()
      const operator = left.nextSibling
      const compiled = compileBinary({
        left: compile(left, text),
        right: compile(right, text),
        operator: operator ? slice(operator) : '',
        isBool: node.getChild('BoolModifier') !== null,
        matching: matchingOf(node, slice),
      })
      if (!compiled) throw unsupported()
      return compiled
    }
    default:
      throw unsupported()
  }
}

const argumentsOf = (body: SyntaxNode, text: string): readonly Expression[] =>
  childrenOf(body).map((one) => compile(one, text))

export const childrenOf = (node: SyntaxNode): readonly SyntaxNode[] => {
  const children: SyntaxNode[] = []
  for (let child = node.firstChild; child; child = child.nextSibling) children.push(child)
  return children
}

const matchingOf = (node: SyntaxNode, slice: (of: SyntaxNode) => string) => {
  const clause = node.getChild('MatchingModifierClause')
  const [labels = [], include = []] = (clause?.getChildren('GroupingLabels') ?? []).map((list) =>
    [...slice(list).matchAll(/\w+/g)].map(([label]) => label),
  )
  const group = clause?.getChild('GroupLeft') ? 'left' : clause?.getChild('GroupRight') ? 'right' : undefined
  return { isOn: (clause?.getChild('On') ?? null) !== null, labels, include, group } as const
}

type Select = (source: SeriesSource) => ReturnType<SeriesSource['select']>

const selectorOf = (node: SyntaxNode, text: string): Select => {
  const { name, matchers } = partsOf(node, text)
  return (source) => source.select(name, matchers)
}

/** A matcher of a selector as it is written. */
export interface WrittenMatcher extends Matcher {
  readonly operator: string
  readonly value: string
}

/** The metric and the matchers of a VectorSelector in an expression. */
export const partsOf = (selector: SyntaxNode, text: string) => {
  const identifier = selector.getChild('Identifier')
  return {
    name: identifier ? text.slice(identifier.from, identifier.to) : undefined,
    matchers: (selector.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? []).map((one) =>
      matcherOf(text.slice(one.from, one.to)),
    ),
  }
}

const matcherOf = (text: string): WrittenMatcher => {
  const [, label = '', operator = '', quoted = ''] = /^(\w+)\s*(=~|!~|!=|=)\s*(.*)$/s.exec(text) ?? []
  const expected = unquote(quoted)
  const isNegated = operator.startsWith('!')
  const pattern = operator.endsWith('~') ? new RegExp(`^(?:${expected})$`, 's') : undefined
  return {
    label,
    operator,
    value: expected,
    matches: (value) => (pattern ? pattern.test(value) : value === expected) !== isNegated,
  }
}

/** An element for each selected series that has a sample in the last minutes. */
const lastPoints = (
  select: Select,
  { source, at }: Evaluation,
  elementOf: (labels: Labels, point: Point) => Element,
): readonly Element[] => {
  const found: Element[] = []
  for (const series of select(source)) {
    const point = series.last(at - LOOKBACK_MS, at)
    if (point) found.push(elementOf(series.labels, point))
  }
  return found
}

/** Evaluates an expression at the multiples of the step within (at - length, at], as Prometheus 3. */
const subquery = (
  evaluate: (context: Evaluation) => readonly Element[],
  { length, step }: { readonly length: number; readonly step: number },
  { at: to, ...context }: Evaluation,
): readonly RangeSamples[] => {
  const from = to - length
  const found = new Map<string, { labels: Labels; points: Point[] }>()
  for (let at = (Math.floor(from / step) + 1) * step; at <= to; at += step) {
    for (const { labels, value } of evaluate({ ...context, at })) {
      const key = JSON.stringify(labels)
      const one = found.get(key) ?? { labels, points: [] }
      found.set(key, one)
      one.points.push({ at, value })
    }
  }
  return [...found.values()].map((one) => ({ ...one, from, to }))
}

const callOf = (
  name: string,
  given: readonly Expression[],
  { node, text }: { readonly node: SyntaxNode; readonly text: string },
): Expression => {
  const [first, second_] = given
  const selector = node.getChild('FunctionCallBody')?.getChild('VectorSelector')
  const argument = second_?.type === 'scalar' ? second_.evaluate : () => 1
  const overRange = RANGE_FUNCTIONS[name]
  if (overRange && first?.type === 'range') {
    return vector((context) =>
      first.evaluate(context).flatMap((range) => {
        const value = overRange(range, argument(context))
        return value === undefined ? [] : [{ labels: range.labels, value }]
      }),
    )
  }
  const overValue = SCALAR_FUNCTIONS[name]
  if (overValue && first?.type === 'vector') {
    return vector((context) =>
      first.evaluate(context).map(({ labels, value }) => ({ labels, value: overValue(value, argument(context)) })),
    )
  }
  if (name === 'absent' && first?.type === 'vector') {
    // The labels that the selector requires to have a certain value.
    const equal = (selector ? partsOf(selector, text).matchers : []).filter(({ operator }) => operator === '=')
    const labels = Object.fromEntries(equal.map(({ label, value }) => [label, value]))
    return vector((context) => (first.evaluate(context).length === 0 ? [{ labels, value: 1 }] : []))
  }
  if (name === 'time') return { type: 'scalar', evaluate: ({ at, clockOffset = 0 }) => (at + clockOffset) / second }
  if (name === 'vector' && first?.type === 'scalar') {
    return vector((context) => [{ labels: {}, value: first.evaluate(context) }])
  }
  if (name === 'timestamp' && selector) {
    const select = selectorOf(selector, text)
    return vector((context) =>
      lastPoints(select, context, (labels, { at }) => ({ labels, value: (at + (context.clockOffset ?? 0)) / second })),
    )
  }
  if (name === 'label_replace' && first?.type === 'vector') {
    const [target = '', replacement = '', from = '', pattern = ''] = given
      .slice(1)
      .map((one) => (one.type === 'text' ? one.text : ''))
    const expected = new RegExp(`^(?:${pattern})$`, 's')
    return vector((context) =>
      first.evaluate(context).map(({ labels, value }) => {
        const text_ = labels[from] ?? ''
        return expected.test(text_)
          ? { labels: { ...labels, [target]: text_.replace(expected, replacement) }, value }
          : { labels, value }
      }),
    )
  }
  throw new PromqlError(`not supported (${name}): ${text.slice(node.from, node.to)}`)
}

const aggregationOf = (node: SyntaxNode, text: string): Expression => {
  const slice = (of: SyntaxNode | null): string => (of ? text.slice(of.from, of.to) : '')
  const fold = AGGREGATIONS[slice(node.getChild('AggregateOp'))]
  const body = node.getChild('FunctionCallBody')
  const [operand] = body ? argumentsOf(body, text) : []
  const modifier = node.getChild('AggregateModifier')
  if (!fold || operand?.type !== 'vector' || modifier?.getChild('Without')) {
    throw new PromqlError(`not supported (aggregation): ${slice(node)}`)
  }
  const by = [...slice(modifier?.getChild('GroupingLabels') ?? null).matchAll(/\w+/g)].map(([label]) => label)
  const groupOf = perLabels((labels) => ({
    key: by.map((label) => labels[label] ?? '').join('\0'),
    kept: Object.fromEntries(by.flatMap((label) => (labels[label] ? [[label, labels[label]]] : []))),
  }))
  return vector((context) => {
    const groups = new Map<string, { labels: Labels; values: number[] }>()
    for (const { labels, value } of operand.evaluate(context)) {
      const { key, kept } = groupOf(labels)
      const group = groups.get(key)
      if (group) group.values.push(value)
      else groups.set(key, { labels: kept, values: [value] })
    }
    return [...groups.values()].map(({ labels, values }) => ({ labels, value: fold(values) }))
  })
}

/** A number, or a duration in seconds: `1h30m`. */
const numberOf = (text: string): number => parseDuration(text, PROMQL_UNITS) ?? Number(text)

const unquote = (text: string): string => text.slice(1, -1).replaceAll(/\\(.)/g, '$1')
