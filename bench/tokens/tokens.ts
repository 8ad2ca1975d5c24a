import { rm } from 'node:fs/promises'
import { must } from '../../test/support/programs.ts'
import { type Comparison, inTurn, installPeers, packageName, serve, type Setup, take } from '../comparison.ts'

interface TokenProgram {
  /** The name in programs.mjs. */
  readonly program: string
  readonly name: string
}

const OWN: TokenProgram = { program: 'chain-agent', name: 'chain-agent' }
const PLAIN: TokenProgram = { program: 'plain', name: 'fetch, JSON.parse, BigInt' }
const EQUAL = `All programs read the same history of one ERC-20 contract (a million addresses, ten million in a history of as many logs; 10,000 logs a page) from one server on this machine,
each in a process of its own, and end with a CSV of all balances, sorted, whose bytes must be equal. Loading the modules is not counted. CPU
time is of all threads. \`chain-agent\` is its client and its ledger.`

export const tokens: Comparison = {
  name: 'tokens',
  title: 'Balances of a token: transport and ledger',
  fairness: `${EQUAL} The official client streams its binary format, ten requests at a time; then, as in the plain program, the balances are in a \`Map\` of
\`BigInt\`.`,
  open: async (setup) => open(setup, [PLAIN], { official: '@envio-dev/hypersync-client' }),
}

export const decoders: Comparison = {
  name: 'decoders',
  title: 'Balances of a token: decoders of libraries',
  fairness: `${EQUAL} The peers fetch JSON; the library decodes each log (\`decodeEventLog\`, \`parseLog\`), and the balances are in a \`Map\` of \`BigInt\`.
The history has a tenth of the logs of \`tokens\`, because these decoders are slow; a short history is the worse case for chain-agent, which
has less time to warm up.`,
  open: async (setup) => open({ ...setup, logs: setup.logs / 10 }, [], { viem: 'viem', ethers: 'ethers' }),
}

/** `packages`: name in programs.mjs → npm package. */
const open = async (
  setup: Setup,
  others: readonly TokenProgram[],
  packages: Readonly<Record<string, string>>,
): ReturnType<Comparison['open']> => {
  const { folder, logs, defer } = setup
  const missing = await installPeers()
  const history = `${folder}/tokens`
  const formats = missing === undefined ? ['arrow'] : []
  const args = [`${import.meta.dirname}/history.mjs`, history, `${logs}`, ...formats]
  defer(async () => rm(history, { recursive: true, force: true }))
  await must(process.execPath, args, { timeout: 3_600_000 })
  const url = await serve(['tokens/server.mjs', history], setup)
  const programs = [OWN, ...others]
  if (missing === undefined) {
    for (const [program, name] of Object.entries(packages)) programs.push({ program, name: await packageName(name) })
  }
  return {
    programs: programs.map(({ name }) => name),
    skipped: missing === undefined ? [] : Object.values(packages).map((name) => ({ name, reason: missing })),
    round: async () => inTurn(programs, async ({ program }) => take(['tokens/worker.mjs', program, url])),
  }
}
