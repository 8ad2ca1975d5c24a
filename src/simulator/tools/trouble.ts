import type { Clock } from '../../core/clock.ts'
import type { SimulatedNode } from '../node.ts'
import type { Frame, Tool } from './tools.ts'

interface Troubled {
  readonly node: SimulatedNode
  readonly clock: Clock
  readonly name: 'mpt' | 'status'
}

const POLL_MS = 100

/** A tool of the node that may hang or abort, as the scenario wants it. */
export const troubled = ({ node, clock, name }: Troubled, tool: Tool): Tool =>
  async function* (argv, signal) {
    const does = (state: string): boolean => node.condition().tools[name] === state
    const hangs = does('hangs')
    const aborts = name === 'mpt' && (hangs || does('aborts'))
    if (hangs) yield { ignores: 'SIGTERM' }
    // The storage tool hangs where it says that it may: in the backtrace of an abort.
    if (aborts) yield { stderr: BACKTRACE }
    else if (hangs) yield { stderr: 'waiting for the control panel\n' }
    while (does('hangs') && !signal.aborted) await clock.sleep(POLL_MS, signal)
    if (!aborts) yield* tool(argv, signal)
    else yield* [{ stderr: assertion(node.prefix) }, { signal: 'SIGABRT' }] satisfies Frame[]
  }

const ADDRESSES = ['0x5581b3e0c4d1', '0x5581b3dfa2e8', '0x5581b3df7c40'] as const

const BACKTRACE = `
${ADDRESSES.map((address) => `      ${address}\n`).join('')}
   Attempting async signal unsafe human readable stacktrace (this may hang):
`

/** The backtrace with names, then the assertion, then what it is about. */
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
