import { Command } from 'commander'
import { toJson } from '../../core/json.ts'
import { sanitize } from '../../core/sanitize.ts'
import { adviseRecovery, type Advice } from '../../health/recovery.ts'
import { configOptions, type ConfigOptions } from '../../cli/config-options.ts'
import { gathered } from '../../cli/interrupted.ts'
import type { ExitCode, Io } from '../../cli/io.ts'
import { wrap } from '../../cli/terminal/layout.ts'
import { createStyle, type Style, type Tone } from '../../cli/terminal/style.ts'
import { readPicture } from '../shared/read-node.ts'

type Options = ConfigOptions & { readonly json?: true; readonly color: boolean }

/** `chain-agent recover`: which way out the node needs now. It advises, and never acts. */
export const recoverCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('recover'))
    .description('which documented way of recovery the node needs now, with the evidence')
    .option('--json', 'as JSON')
    .option('--no-color', 'without colours')
    .addHelpText(
      'after',
      `
It advises and never acts: every command it shows is for you to run, or not. What it knows comes from
the running agent, or from the node itself where no agent answers.

Exit codes: 0 nothing is to be done, or waiting is all; 1 something is to be done, or it cannot be told;
2 it was asked for in a wrong way.

Examples:
  chain-agent recover
  chain-agent recover --json | jq -r .path`,
    )
    .action(async (options: Options) => {
      const found = await gathered(io, exit, () => readPicture(io, options))
      if (!found) return
      const { picture, config } = found
      const advice = adviseRecovery({ ...picture, window: config.derived.blocksyncWindow })
      if (options.json) {
        const { at, origin } = picture
        const told = { at: new Date(at).toISOString(), origin, ...advice }
        io.stdout.write(`${JSON.stringify(toJson(told), undefined, 2)}\n`)
      } else {
        const style = createStyle(io, { color: options.color })
        io.stdout.write(`${page(advice, style).join('\n')}\n`)
      }
      exit(advice.exitCode)
    })

const page = (advice: Advice, style: Style): readonly string[] => {
  const { path, says, why, steps, notNow, runbook } = advice
  const [first = '', ...rest] = wrap(`RECOVERY: ${plain(says, style)}.`, style)
  return [
    style.paint(TONES[path] ?? 'bad', first),
    ...rest,
    ...part('Why', why, style),
    ...part('What to do', steps, style),
    ...part('What not to do', notNow, style),
    ...(runbook === null ? [] : ['', `More: chain-agent runbook ${runbook}`]),
  ]
}

const TONES: Partial<Readonly<Record<Advice['path'], Tone>>> = {
  none: 'good',
  wait: 'notice',
  unknown: 'unknown',
}

const part = (title: string, texts: readonly string[], style: Style): readonly string[] =>
  texts.length === 0
    ? []
    : [
        '',
        style.paint('strong', title),
        ...texts.flatMap((text, index) =>
          item(title === 'What to do' ? `${index + 1}.` : '-', plain(text, style), style),
        ),
      ]

/** A command at the end stands on a line of its own, whole, so that it can be copied. */
const item = (mark: string, text: string, style: Style): readonly string[] => {
  const indent = ' '.repeat(mark.length + 3)
  const [, words = text, command] = /^(.*): `([^`]+)`$/s.exec(text) ?? []
  const [first = '', ...rest] = wrap(command === undefined ? words : `${words}:`, style, indent)
  return [
    `  ${mark} ${first.trimStart()}`,
    ...rest,
    ...(command === undefined ? [] : [`${indent}  ${style.paint('strong', command)}`]),
  ]
}

/** Lines of a log are among it: a terminal must not obey what a node printed. */
const plain = (text: string, style: Style): string => style.plain(sanitize(text))
