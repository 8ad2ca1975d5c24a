import type { Clock } from '../../src/core/clock.ts'
import type { Exec } from '../../src/sources/exec.ts'
import type { Endpoint } from '../../simulator/endpoints.ts'

/** A secret for one location: found in an output, it identifies its origin. */
export const secret = (place: string): string => `CanaryOf${place}7Q2w9Z`
/** A secret of 64 hex digits, as the keystore tool prints one. */
export const HEX = 'c0ffee15'.repeat(8)
/** A private key. */
export const KEY = '5ec4e7'.repeat(11).slice(0, 64)

/** Raw, in the other case, and as base64 shows it in the middle of a longer text. */
export const formsOf = (text: string): readonly string[] => [
  text,
  text.toUpperCase(),
  text.toLowerCase(),
  ...[0, 1, 2].map((shift) =>
    Buffer.from(`${'x'.repeat(shift)}${text}`)
      .toString('base64')
      .slice(shift === 0 ? 0 : 4, -4),
  ),
]

/** Those of the secrets that a text contains, in any form. */
export const leaksOf = (secrets: readonly string[]): ((text: string) => readonly string[]) => {
  const forms = secrets.map((one) => ({ one, forms: formsOf(one) }))
  return (text) => forms.filter((entry) => entry.forms.some((form) => text.includes(form))).map(({ one }) => one)
}

/** What a tool may print on standard error before it does its work. */
export const NOISE = [
  `monad-node --keystore-password ${secret('Argument')} --x`,
  `KEYSTORE_PASSWORD=${secret('Password')}`,
  `Keystore secret: ${HEX}`,
  '',
].join('\n')

/** Log messages of the node that no parser matches, with secrets: labelled and bare. */
const UNPARSED = [
  `{"level":"INFO","target":"ledger_tail","fields":{"message":"proposed_block","password":"${secret('LogLine')}"}}`,
  `{"cut ${secret('LogLine')} ${Buffer.from(secret('LogLine')).toString('base64')}`,
  `{"level":"INFO","target":"monad_ledger","fields":{"message":"committed block","x":"${secret('LogLine')}"}}`,
  `2026-03-01 10:00:00.123456789 [7] runloop.cpp:1 LOG_INFO __exec_block,bl=oops,key=${secret('LogLine')}`,
]
/** Messages that are trouble, and are reported as such. */
const TROUBLE = [
  `2026-03-01 10:00:00.123456789 [7] x.cpp:1 LOG_ERROR MonadException: password=${secret('LogLine')}`,
  `Assertion '${secret('LogLine')}' failed.`,
  `assertion failure message: ${Buffer.from(secret('LogLine')).toString('base64')}`,
]

/** Entries of the journal, of every unit that is followed, in the form of `journalctl -o json`. */
export const entriesWithSecrets = (at: number, { trouble }: { readonly trouble: boolean }): string =>
  ['ledger-tail', 'bft', 'execution']
    .flatMap((role) =>
      [...UNPARSED, ...(trouble ? TROUBLE : [])].map((message, index) =>
        JSON.stringify({
          __CURSOR: `s=planted;i=${index}`,
          __REALTIME_TIMESTAMP: `${at}000`,
          _PID: '9',
          _SYSTEMD_UNIT: `chain-${role}.service`,
          MESSAGE: message,
        }),
      ),
    )
    .map((line) => `${line}\n`)
    .join('')

/** Metrics of the node with secrets in labels, and in lines that are none. */
export const SECRET_METRICS = [
  `chain_node_info{network="simulated",service_name="${secret('Metrics')}",token="${secret('Metrics')}"} 1`,
  `password=${secret('Metrics')} is no line`,
  `# HELP chain_x ${secret('Metrics')}`,
  '',
].join('\n')

/** Every program prints secrets on standard error; a journal that is followed from its end begins with them. */
export const withSecrets = (exec: Exec, clock: Clock): Exec => ({
  run: async (program, signal) => {
    const output = await exec.run(program, signal)
    return { ...output, stderr: NOISE + output.stderr }
  },
  async *stream(program, signal) {
    const { command, args } = program
    const isNew = args.includes('--follow') && !args.some((arg) => arg.startsWith('--cursor'))
    let before = command === 'journalctl' && isNew
    for await (const chunk of exec.stream(program, signal)) {
      // In one piece with real entries: the cursors of these are in no journal.
      const planted = before ? entriesWithSecrets(clock.now(), { trouble: false }) : ''
      before = false
      yield Buffer.concat([Buffer.from(planted), chunk])
    }
  },
  killAll: () => {
    exec.killAll()
  },
})

/** An endpoint whose address has a secret as its path. */
export const atSecretPath = (endpoint: Endpoint, path: string): Endpoint => ({
  isOpen: () => endpoint.isOpen(),
  answer: (call) => endpoint.answer({ ...call, path }),
})

/** Metrics at a secret path, with secrets among them. */
export const metricsWithSecrets = (endpoint: Endpoint): Endpoint => {
  const metrics = atSecretPath(endpoint, '/metrics')
  return {
    ...metrics,
    answer: (call) => {
      const answer = metrics.answer(call)
      return { ...answer, text: answer.text + SECRET_METRICS }
    },
  }
}

/** Where secrets are planted in a simulated host: addresses, tools, logs, metrics, files. */
export const PLANTED: readonly string[] = [
  ...['RpcPath', 'Argument', 'Password', 'LogLine'].map(secret),
  ...['Metrics', 'MetricsPath', 'Heartbeat', 'ApiKey'].map(secret),
  HEX,
]
