import { Command } from 'commander'
import { describeSource } from '../../config/render.ts'
import { toJson } from '../../core/json.ts'
import { preflight } from './preflight.ts'
import { type Fact, summarize } from '../../health/summary.ts'
import { evaluateHealth, type HealthVerdict } from '../../health/verdict.ts'
import { configOptions, type ConfigOptions, configOf } from '../../cli/config-options.ts'
import { unlessInterrupted } from '../../cli/io.ts'
import type { ExitCode, Io } from '../../cli/io.ts'
import { createStyle } from '../../cli/terminal/style.ts'
import { checkLines } from '../../cli/terminal/verdict.ts'
import { readFromNode } from '../shared/read-snapshot.ts'

type CheckOptions = ConfigOptions & { readonly json?: true }

/** `chain-agent check`: runs every collector once, evaluates the health of the node, and prints what to do. */
export const checkCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('check'))
    .option('--json', 'as JSON: health verdict, findings and facts')
    .addHelpText(
      'after',
      `
Runs every collector of the agent once, and checks that the host has what the agent needs. It changes
nothing and takes some seconds. Run it as the user of the agent: another user may have other
permissions.

Exit codes: 0 healthy, 1 something needs attention, 2 the node does not do its work, or its state is
unknown. During a maintenance window only keys and exposed ports count.

Examples:
  chain-agent check
  sudo -u chain-agent chain-agent check
  chain-agent check --json | jq '.findings[] | {severity, says}'`,
    )
    .action(async (options: CheckOptions) => {
      const { config, source } = configOf(io, options)
      const path = io.env['PATH'] ?? '/usr/bin:/bin'
      const { clock, signal, overrides } = io
      const gatheredData = await unlessInterrupted(io, exit, async () => {
        const snapshot = await readFromNode(io, config)
        const more = await preflight({ config, clock, path, signal, snapshot, ...overrides })
        return { snapshot, more }
      })
      if (!gatheredData) return
      const { snapshot, more } = gatheredData
      const verdict = evaluateHealth(snapshot, more)
      const { publicKey } = config.node
      const facts = [
        ...summarize(snapshot),
        ...(publicKey === null ? [] : [{ label: 'own key', value: publicKey }]),
        { label: 'configuration', value: describeSource(source) },
      ]
      io.stdout.write(options.json ? renderJson(verdict, facts) : render(io, verdict, facts))
      exit(verdict.exitCode)
    })

const render = (io: Io, verdict: HealthVerdict, facts: readonly Fact[]): string => {
  const style = createStyle(io)
  return `${checkLines(verdict, facts, style).join('\n')}\n`
}

const renderJson = ({ word, sentence, exitCode, findings }: HealthVerdict, facts: readonly Fact[]) => {
  const known = Object.fromEntries(facts.map(({ label, value }) => [label, value]))
  const value = { verdict: { word, sentence, exitCode }, findings, facts: known }
  return `${JSON.stringify(toJson(value), undefined, 2)}\n`
}
