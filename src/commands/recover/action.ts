import { toJson } from '../../core/json.ts'
import { sanitize } from '../../core/redact.ts'
import { readEpochLengths } from '../../config/staking.ts'
import { shortDuration } from '../../core/format.ts'
import { RESTART_MS, restartWindow, type RestartWindow } from '../../health/restart-window.ts'
import { adviseRecovery, type RecoveryAdvice } from '../../health/recovery.ts'
import type { ConfigOptions } from '../../cli/config-options.ts'
import { unlessInterrupted, type ActionContext } from '../../cli/io.ts'
import type { Tone } from '../../core/health.ts'
import { wrap, createStyle, type Style } from '../../cli/terminal/style.ts'
import { readSnapshot } from '../shared/read-snapshot.ts'

export type RecoverOptions = ConfigOptions & { readonly json?: true; readonly color: boolean }

export const recover = async ({ io, exit, options }: ActionContext<RecoverOptions>): Promise<void> => {
  const data = await unlessInterrupted(io, exit, () => readSnapshot(io, options))
  if (!data) return
  const { snapshot, config } = data
  const input = {
    ...snapshot,
    epochs: readEpochLengths(config.staking),
    devices: config.storage.devices,
  }
  const advice = adviseRecovery(input)
  const restart = restartWindow({ ...input, span: RESTART_MS })
  if (options.json) {
    const { at, origin } = snapshot
    const document = {
      at: new Date(at).toISOString(),
      origin,
      ...advice,
      restart: { isSafe: restart.isSafe, summary: restart.summary },
    }
    io.stdout.write(`${JSON.stringify(toJson(document), undefined, 2)}\n`)
  } else {
    const style = createStyle(io, { color: options.color })
    const lines = [...renderAdvice(advice, style), ...restartLine(advice, restart, style)]
    io.stdout.write(`${lines.join('\n')}\n`)
  }
  exit(advice.exitCode)
}

const renderAdvice = (advice: RecoveryAdvice, style: Style): readonly string[] => {
  const { path, summary, why, steps, notNow, sources, runbook } = advice
  const [first = '', ...rest] = wrap(`RECOVERY: ${plain(summary, style)}.`, style)
  return [
    style.paint(TONES[path] ?? 'bad', first),
    ...rest,
    ...section('Why', why, style),
    ...section('What to do', steps, style),
    ...section('What not to do', notNow, style),
    ...(sources.length === 0 ? [] : ['', style.paint('strong', 'Sources')]),
    ...sources.map(({ id, url }) => `  [${id}] ${url}`),
    ...(runbook === null ? [] : ['', `More: chain-agent runbook ${runbook}`]),
  ]
}

/** Where there is a choice of the time: a node that does no work is restarted at once. */
const restartLine = ({ path }: RecoveryAdvice, { summary }: RestartWindow, style: Style): readonly string[] =>
  ['none', 'upgrade', 'migrate', 'restart together'].includes(path)
    ? ['', ...wrap(`A restart for ${shortDuration(RESTART_MS)}: ${plain(summary, style)}.`, style)]
    : []

const TONES: Partial<Readonly<Record<RecoveryAdvice['path'], Tone>>> = {
  none: 'good',
  wait: 'notice',
  unknown: 'unknown',
}

const section = (title: string, texts: readonly string[], style: Style): readonly string[] =>
  texts.length === 0
    ? []
    : [
        '',
        style.paint('strong', title),
        ...texts.flatMap((text, index) =>
          item(title === 'What to do' ? `${index + 1}.` : '-', plain(text, style), style),
        ),
      ]

/** A command at the end of a step gets a line of its own, unwrapped, so that it can be copied. */
const item = (mark: string, text: string, style: Style): readonly string[] => {
  const indent = ' '.repeat(mark.length + 3)
  const [, sentence = text, command] = /^(.*): `([^`]+)`$/s.exec(text) ?? []
  const [first = '', ...rest] = wrap(command === undefined ? sentence : `${sentence}:`, style, indent)
  return [
    `  ${mark} ${first.trimStart()}`,
    ...rest,
    ...(command === undefined ? [] : [`${indent}  ${style.paint('strong', command)}`]),
  ]
}

/** The texts may include log lines: control characters must not reach the terminal. */
const plain = (text: string, style: Style): string => style.plain(sanitize(text))
