import { Command } from 'commander'
import { describeSource } from '../../config/render.ts'
import { toJson } from '../../core/json.ts'
import { preflight } from './preflight.ts'
import { type Fact, survey } from '../../health/survey.ts'
import { judge, type Verdict } from '../../health/verdict.ts'
import { configOptions, type ConfigOptions, configOf } from '../../cli/config-options.ts'
import { gathered } from '../../cli/interrupted.ts'
import type { ExitCode, Io } from '../../cli/io.ts'
import { createStyle } from '../../cli/terminal/style.ts'
import { checkLines } from '../../cli/terminal/verdict.ts'
import { askNodeWith } from '../shared/read-node.ts'

type Options = ConfigOptions & { readonly json?: true }

/** `chain-agent check`: asks the node and the host everything once, and says what is to be done. */
export const checkCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('check'))
    .description('ask the node and the host everything once: verdict, evidence, what to do')
    .option('--json', 'as JSON: verdict, findings and facts')
    .addHelpText(
      'after',
      `
It reads and changes nothing: every collector of the agent makes one attempt, and the host is asked
what the agent needs of it. It takes some seconds. Run it as the agent's user: another user may have
other permissions.

Exit codes: 0 the node does its work and nothing asks for you, 1 something asks for attention,
2 the node does not do its work, or whether it does cannot be told. During announced maintenance
only keys and exposed ports count.

Examples:
  chain-agent check
  sudo -u chain-agent chain-agent check
  chain-agent check --json | jq '.findings[] | {severity, says}'`,
    )
    .action(async (options: Options) => {
      const { config, source } = configOf(io, options)
      const path = io.env['PATH'] ?? '/usr/bin:/bin'
      const { clock, signal, standIns } = io
      const found = await gathered(io, exit, async () => {
        const picture = await askNodeWith(io, config)
        const more = await preflight({ config, clock, path, signal, picture, ...standIns })
        return { picture, more }
      })
      if (!found) return
      const { picture, more } = found
      const verdict = judge(picture, more)
      const { publicKey } = config.node
      const facts = [
        ...survey(picture),
        ...(publicKey === null ? [] : [{ matter: 'own key', says: publicKey }]),
        { matter: 'configuration', says: describeSource(source) },
      ]
      io.stdout.write(options.json ? renderJson(verdict, facts) : render(io, verdict, facts))
      exit(verdict.exitCode)
    })

const render = (io: Io, verdict: Verdict, facts: readonly Fact[]): string => {
  const style = createStyle(io)
  return `${checkLines(verdict, facts, style).join('\n')}\n`
}

const renderJson = ({ word, sentence, exitCode, findings }: Verdict, facts: readonly Fact[]) => {
  const known = Object.fromEntries(facts.map(({ matter, says }) => [matter, says]))
  const value = { verdict: { word, sentence, exitCode }, findings, facts: known }
  return `${JSON.stringify(toJson(value), undefined, 2)}\n`
}
