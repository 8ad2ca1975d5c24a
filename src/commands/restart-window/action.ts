import type { ConfiguredContext } from '../../terminal/configured-command.ts'
import { diagnosisDocument, headLines } from '../../terminal/diagnosis.ts'
import type { Style } from '../../terminal/style.ts'
import { second } from '../../core/units.ts'
import { diagnose, NO_WINDOW_IN_FAULT, plannedRestart } from '../../health/diagnosis.ts'
import { RESTART_MS, RESTART_TONES, type RestartCheck, type RestartWindow } from '../../health/restart-window.ts'
import { costDocument } from '../../health/sections/agent.ts'
import { iso } from '../../health/sections/fact.ts'
import { readSnapshot } from '../shared/read-snapshot.ts'

export const showRestartWindow = async (context: ConfiguredContext<{ readonly for?: number }>): Promise<void> => {
  const { io, exit, options, config, gather, print } = context
  const snapshot = await gather(() => readSnapshot(io, config))
  const span = options.for ?? RESTART_MS
  const diagnosis = diagnose(snapshot)
  const answer = plannedRestart(diagnosis, snapshot, span)
  const exitCode = answer?.isSafe === true ? 0 : 1
  const { at, origin } = snapshot
  print({
    document: () => ({
      ...diagnosisDocument(diagnosis),
      at: iso(at),
      origin,
      forSeconds: span / second,
      isSafe: answer && answer.isSafe,
      summary: answer?.summary ?? NO_WINDOW_IN_FAULT,
      checks: answer?.checks ?? [],
      ownRounds: answer && costDocument(answer.ownRounds),
      nextAt: iso(answer?.nextAt),
      exitCode,
    }),
    lines: (style) =>
      answer
        ? render(answer, style)
        : [...headLines(diagnosis, style), ...style.wrap(`RESTART: ${NO_WINDOW_IN_FAULT}.`)],
  })
  exit(exitCode)
}

const render = ({ isSafe, summary, checks, ownRounds }: RestartWindow, style: Style): readonly string[] => [
  ...style.paragraph(isSafe ? 'good' : 'bad', `RESTART: ${summary}.`),
  '',
  ...style.pairs([
    ...checkRows(checks, style),
    // A cost has no mark.
    ['own rounds', `${ownRounds.rounds === null ? 'unknown: ' : ''}${ownRounds.summary}`],
  ]),
]

/** The conditions for `pairs`. */
export const checkRows = (checks: readonly RestartCheck[], style: Style) =>
  checks.map(({ name, state, summary: why }): readonly [string, string] => [
    name,
    `${style.sign(RESTART_TONES[state])} ${state === 'unknown' ? 'unknown: ' : ''}${why}`,
  ])
