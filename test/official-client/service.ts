import { onTestFinished } from 'vitest'
import type { Block } from '../../query/store/store.ts'
import { servedStore } from '../support/memory-store.ts'
import { startQueryApi } from '../query/api/fixtures.ts'
import { blocksAfter, CHAIN, FIRST } from './chain.ts'

type ApiOptions = NonNullable<Parameters<typeof startQueryApi>[0]>

/** The query API until the end of the test. */
export const startApi = async (options: ApiOptions = {}) => {
  const api = await startQueryApi({ blocks: CHAIN, ...options })
  onTestFinished(api.close)
  return api
}

/** A chain of 100 blocks that grows by a block each time that the service has read the height so many times. */
export const startGrowingApi = async ({ reads, ...options }: ApiOptions & { readonly reads: number }) => {
  const blocks: Block[] = CHAIN.slice(0, 100)
  const store = servedStore()
  await store.append(blocks)
  let count = 0
  const failures: unknown[] = []
  const height = (): number => {
    count += 1
    const head = blocks.at(-1)
    if (head === undefined) throw new Error('the chain is empty')
    if (count % reads !== 0) return head.number
    const more = blocksAfter(head, 1)
    blocks.push(...more)
    store.append(more).catch((error: unknown) => failures.push(error))
    return head.number + 1
  }
  const api = await startApi({ ...options, blocks: [], store, height })
  return { ...api, blocks, failures }
}

/** The head with which a chain begins that grows. */
export const FIRST_HEAD = FIRST + 99
