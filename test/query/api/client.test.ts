import { expect } from 'vitest'
import { createEndpoint } from '../../../query/client/transport.ts'
import { createErrorFactory } from '../../../query/client/errors.ts'
import { readPage } from '../../../query/client/page.ts'
import { randomChain } from '../../support/store-cases.ts'
import { ask, it } from './fixtures.ts'

it.for(['spec', 'hosted'] as const)(
  'the client reads a page of the dialect %s without parsing it',
  async (dialect, { serve }) => {
    const chain = randomChain({ seed: 5, from: 1, blocks: 30 })
    const api = await serve({ dialect, blocks: chain })
    const body = { from_block: 1, to_block: 30, logs: [{}] }
    const got = await ask(api, { ...body, field_selection: { log: ['log_index', 'block_number', 'data'] } })
    const total = got.text.split('"log_index"').length - 1
    const queryError = createErrorFactory('read', createEndpoint({ url: api.url, apiKey: null }))
    const scanned = (end: number) => readPage(Buffer.from(got.text), { from: 1, end }, queryError).scanned?.count
    // to_block is inclusive in one of the dialects.
    const last = dialect === 'spec' ? 30 : 29
    expect(scanned(last)).toBe(total)
    // The client leaves out the logs of the block after the last one.
    expect(scanned(last - 1)).toBe(total - (chain[last - 1]?.logs.length ?? 0))
  },
)
