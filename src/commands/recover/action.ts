import { shortDuration } from '../../core/format.ts'
import { RESTART_MS } from '../../health/restart-window.ts'
import { diagnose, plannedRestart, recoveryLine } from '../../health/diagnosis.ts'
import type { RecoveryAdvice } from '../../health/recovery.ts'
import { verdictLine } from '../../terminal/diagnosis.ts'
import type { ConfiguredContext } from '../../terminal/configured-command.ts'
import type { Tone } from '../../domain/health.ts'
import type { Style } from '../../terminal/style.ts'
import { readSnapshot } from '../shared/read-snapshot.ts'

export const recover = async ({ io, exit, config, gather, print }: ConfiguredContext<object>): Promise<void> => {
  const snapshot = await gather(() => readSnapshot(io, config))
  const diagnosis = diagnose(snapshot)
  const { recovery, word, sentence } = diagnosis
  const restart = plannedRestart(diagnosis, snapshot)
  print({
    document: () => ({
      at: new Date(snapshot.at).toISOString(),
      origin: snapshot.origin,
      verdict: { word, sentence },
      ...recovery,
      restart: restart && { isSafe: restart.isSafe, summary: restart.summary },
    }),
    lines: (style) => [
      verdictLine(diagnosis, style),
      ...renderAdvice(recovery, style),
      ...(restart ? ['', ...style.wrap(`A planned restart of ${shortDuration(RESTART_MS)}: ${restart.summary}.`)] : []),
    ],
  })
  exit(recovery.exitCode)
}

const renderAdvice = (advice: RecoveryAdvice, style: Style): readonly string[] => {
  const { path, why, steps, notNow, sources, runbook } = advice
  const [first = '', ...rest] = style.wrap(recoveryLine(advice))
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
        ...texts.flatMap((text, index) => item(title === 'What to do' ? `${index + 1}.` : '-', text, style)),
      ]

/** A command at the end of a step gets a line of its own, unwrapped, so that it can be copied. */
const item = (mark: string, text: string, style: Style): readonly string[] => {
  const indent = ' '.repeat(mark.length + 3)
  const [, sentence = text, command] = /^(.*): `([^`]+)`$/s.exec(text) ?? []
  return [
    ...style.marked(`  ${mark} `, command === undefined ? sentence : `${sentence}:`, indent),
    ...(command === undefined ? [] : [`${indent}  ${style.paint('strong', command)}`]),
  ]
}
