import { nodeConfigOf } from '../../terminal/config.ts'
import type { ConfigOptions } from '../../terminal/config-options.ts'
import { type ActionContext, unlessInterrupted } from '../../terminal/io.ts'
import { type OutputOptions, printResult } from '../../terminal/output.ts'
import { pairs, type Style, wrap } from '../../terminal/style.ts'
import type { Tone } from '../../domain/health.ts'
import { second } from '../../core/units.ts'
import { RESTART_MS, type RestartCheck, restartWindow, type RestartWindow } from '../../health/restart-window.ts'
import { readSnapshot } from '../shared/read-snapshot.ts'

type RestartWindowOptions = ConfigOptions & OutputOptions & { readonly for?: number }

export const showRestartWindow = async ({ io, exit, options }: ActionContext<RestartWindowOptions>): Promise<void> => {
  nodeConfigOf(io, options)
  const data = await unlessInterrupted(io, exit, () => readSnapshot(io, options))
  if (!data) return
  const { snapshot } = data
  const span = options.for ?? RESTART_MS
  const answer = restartWindow({ ...snapshot, span })
  const exitCode = answer.isSafe ? 0 : 1
  const { at, origin } = snapshot
  printResult(
    { io, options },
    {
      document: () => ({
        at: iso(at),
        origin,
        forSeconds: span / second,
        ...answer,
        nextAt: iso(answer.nextAt),
        exitCode,
      }),
      lines: (style) => render(answer, style),
    },
  )
  exit(exitCode)
}

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())

const TONES: Readonly<Record<RestartCheck['state'], Tone>> = { ok: 'good', no: 'bad', unknown: 'unknown' }

const render = ({ isSafe, summary, checks }: RestartWindow, style: Style): readonly string[] => [
  ...wrap(`RESTART: ${style.safe(summary)}.`, style).map((line) => style.paint(isSafe ? 'good' : 'bad', line)),
  '',
  ...pairs(
    checks.map(({ name, state, summary: why }) => [
      name,
      `${style.sign(TONES[state])} ${state === 'unknown' ? 'unknown: ' : ''}${style.safe(why)}`,
    ]),
    style,
  ),
]
