import { z } from 'zod'
import { baseUrl, file, POLL, timing, token } from '../../core/settings.ts'
import { gauge, open } from '../../core/metric.ts'

export const definition = {
  name: 'tokens',
  help: 'balances of configured holders, from the events of their tokens',
  introduction:
    'Balances of configured holders (`tokens.watch`), rebuilt from the events that a query service returns; disabled without a token. They are those at 200 blocks below the height of the service, beyond the depth of a reorganization. Absent while the history is being read, and if the events do not explain the balances. `id` is set for tokens with an id only.',
  settings: z
    .strictObject({
      ...timing('60s', '30s', POLL),
      url: baseUrl('the query service with the events of the tokens').nullable().default(null),
      apiKeyFile: file('the file with the API key of that service').nullable().default(null),
      watch: z
        .array(token, 'expected a list of tokens')
        .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, {
          message: 'expected tokens with distinct names',
        })
        .default([])
        .describe(
          'tokens and holders: {name, contract, standard, profile, fromBlock, decimals, holders: [{name, address, id}]}',
        ),
    })
    .refine(({ url: address, watch }) => watch.length === 0 || address !== null, {
      path: ['url'],
      message: 'expected the address of a query service',
    })
    .prefault({}),
  metrics: {
    chain_token_balance: {
      ...gauge(
        'Balance of the holder by the events of the token, as a float of raw units divided by 10 to the power of its decimals; exact in the API.',
        { token: open, holder: open, id: open },
      ),
      noPanel: 'which tokens and holders matter, each operator knows alone',
    },
    chain_token_through_block: {
      ...gauge('Last block whose events are included in the balances of the token.', {
        token: open,
      }),
      noPanel: 'goes with the balances',
    },
  },
} as const
