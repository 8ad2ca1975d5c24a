import { getEventListeners, getMaxListeners } from 'node:events'
import { expect, test } from 'vitest'
import { linkAbort } from '../../src/core/clock.ts'

test('a linked signal aborts with its parent, with the same reason', () => {
  const parent = new AbortController()
  const { signal } = linkAbort(parent.signal)
  expect(signal.aborted).toBe(false)
  parent.abort('stopped')
  expect([signal.aborted, signal.reason]).toEqual([true, 'stopped'])
})

test('linked to a signal that is already aborted, it is aborted', () => {
  expect(linkAbort(AbortSignal.abort()).signal.aborted).toBe(true)
})

test('after abort it no longer listens to its parent, which may live as long as the process', () => {
  const parent = new AbortController()
  const { signal, abort } = linkAbort(parent.signal)
  expect(getEventListeners(parent.signal, 'abort')).toHaveLength(1)
  abort()
  expect(signal.aborted).toBe(true)
  expect(getEventListeners(parent.signal, 'abort')).toHaveLength(0)
})

test('any number of reads may listen to it: Node.js prints no warning', () => {
  // 0 is no limit.
  expect(getMaxListeners(linkAbort(new AbortController().signal).signal)).toBe(0)
})
