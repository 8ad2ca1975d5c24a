import type { Clock } from '../../core/clock.ts'
import type { SimulatedNode } from '../node.ts'
import { bareDirective, type Directive, type Effect } from '../scenario/directives.ts'
import type { Frame, Tool } from './tools.ts'

/** What one of the node's own tools does when it is called. */
export type ToolState = 'answers' | 'hangs' | 'aborts'

const setTool =
  (name: 'mpt' | 'status', state: ToolState): Effect =>
  (condition) => ({ ...condition, tools: { ...condition.tools, [name]: state } })

const hangAndRecover = (subject: 'mpt' | 'status'): readonly Directive[] => [
  bareDirective(
    { subject, verb: 'hangs', meaning: 'the tool does not end and ignores SIGTERM' },
    setTool(subject, 'hangs'),
  ),
  bareDirective(
    { subject, verb: 'answers', meaning: 'the tool works again; calls that still hang end' },
    setTool(subject, 'answers'),
  ),
]

export const toolFaultDirectives: readonly Directive[] = [
  ...hangAndRecover('status'),
  ...hangAndRecover('mpt'),
  bareDirective(
    {
      subject: 'mpt',
      verb: 'aborts',
      meaning: 'the tool writes a backtrace with an assertion and is killed by SIGABRT',
    },
    setTool('mpt', 'aborts'),
  ),
]

interface FaultOptions {
  readonly node: SimulatedNode
  readonly clock: Clock
  readonly name: 'mpt' | 'status'
}

const POLL_MS = 100

/** A tool of the node that hangs or aborts when the scenario requires it. */
export const withFaults = ({ node, clock, name }: FaultOptions, tool: Tool): Tool =>
  async function* (argv, signal) {
    const isState = (state: string): boolean => node.condition().tools[name] === state
    const hangs = isState('hangs')
    const aborts = name === 'mpt' && (hangs || isState('aborts'))
    if (hangs) yield { ignores: 'SIGTERM' }
    // The storage tool hangs in the backtrace of an abort, where its output says that it may.
    if (aborts) yield { stderr: BACKTRACE }
    else if (hangs) yield { stderr: 'waiting for the control panel\n' }
    while (isState('hangs') && !signal.aborted) await clock.sleep(POLL_MS, signal)
    if (!aborts) yield* tool(argv, signal)
    else yield* [{ stderr: assertion(node.prefix) }, { signal: 'SIGABRT' }] satisfies Frame[]
  }

const ADDRESSES = ['0x5581b3e0c4d1', '0x5581b3dfa2e8', '0x5581b3df7c40'] as const

const BACKTRACE = `
${ADDRESSES.map((address) => `      ${address}\n`).join('')}
   Attempting async signal unsafe human readable stacktrace (this may hang):
`

/** The backtrace with names, then the assertion and its message. */
const assertion = (prefix: string): string => {
  const place = `/usr/src/${prefix}-execution/category/mpt/db_metadata_context.cpp:318`
  const context = `${prefix}::mpt::DbMetadataContext::DbMetadataContext`
  return [
    `      ${ADDRESSES[0]}: ${prefix}_assertion_failed`,
    `      ${ADDRESSES[1]}: ${context}(${prefix}::async::AsyncIO&)`,
    `                      [${place}]`,
    `      ${ADDRESSES[2]}: main`,
    `${prefix}-mpt: ${place}: ${context}(${prefix}::async::AsyncIO &): Assertion '!is_dirty || can_write' failed.`,
    'DB metadata was closed dirty, but not opened for healing',
    '',
  ].join('\n')
}
