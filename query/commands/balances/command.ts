import { balancesOptions } from './options.ts'
import { defineCommand } from '../../../src/terminal/define-command.ts'
import { EXIT_CODES_NOTE } from '../query/service.ts'

/** `chain-agent balances`: computes the holders of a token from its events. */
export const balancesCommand = defineCommand({
  options: balancesOptions,
  help: `Balances are exact integers in the smallest unit of the token; --decimals adds
amounts. The zero address and burned tokens are not listed. Partial, hybrid,
ambiguous and non-conserving histories are marked in JSON and on standard error;
they do not change the exit code. An incomplete result is written only as JSON
or a table, which mark it, and to FILE.partial instead of FILE; CSV cannot mark
it.

If an RPC is configured or --rpc is given, a sample of the balances is compared
with the contract. Otherwise they are marked as unverified: a log that the
service left out would not be noticed.

${EXIT_CODES_NOTE}
In addition: 1 a balance differs from the contract, or --verify found another
difference or could check no holder, 4 the output is incomplete and marked as
such.

Examples:
  chain-agent balances --url https://query.example --standard erc20 --token 0x1111111111111111111111111111111111111111
  chain-agent balances --url https://query.example --standard erc721 --token 0x1111111111111111111111111111111111111111 --format csv -o holders.csv --resume
  chain-agent balances --url https://query.example --standard erc20 --token 0x1111111111111111111111111111111111111111 --decimals 18 --verify 20 --format json`,
  load: async () => (await import('./action.ts')).computeBalances,
})
