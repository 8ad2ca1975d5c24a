import type { ConfigOptions } from '../../terminal/config-options.ts'
import { type ActionContext, unlessInterrupted } from '../../terminal/io.ts'
import { createStyle, pairs, type Style, wrap } from '../../terminal/style.ts'
import type { Tone } from '../../domain/health.ts'
import { toJson } from '../../core/json.ts'
import { sanitize } from '../../core/redaction/redact.ts'
import { second } from '../../core/units.ts'
import { RESTART_MS, type RestartCheck, restartWindow, type RestartWindow } from '../../health/restart-window.ts'
import { readSnapshot } from '../shared/read-snapshot.ts'

export type RestartWindowOptions = ConfigOptions & {
  readonly for?: number
  readonly json?: true
  readonly color: boolean
}

export const showRestartWindow = async ({ io, exit, options }: ActionContext<RestartWindowOptions>): Promise<void> => {
  const data = await unlessInterrupted(io, exit, () => readSnapshot(io, options))
  if (!data) return
  const { snapshot } = data
  const span = options.for ?? RESTART_MS
  const answer = restartWindow({ ...snapshot, span })
  const exitCode = answer.isSafe ? 0 : 1
  if (options.json) {
    const { at, origin } = snapshot
    const document = { at: iso(at), origin, forSeconds: span / second, ...answer, nextAt: iso(answer.nextAt), exitCode }
    io.stdout.write(`${JSON.stringify(toJson(document), undefined, 2)}\n`)
  } else {
    io.stdout.write(`${render(answer, createStyle(io, { color: options.color })).join('\n')}\n`)
  }
  exit(exitCode)
}

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())

const TONES: Readonly<Record<RestartCheck['state'], Tone>> = { ok: 'good', no: 'bad', unknown: 'unknown' }

const render = ({ isSafe, summary, checks }: RestartWindow, style: Style): readonly string[] => [
  ...wrap(`RESTART: ${plain(summary, style)}.`, style).map((line) => style.paint(isSafe ? 'good' : 'bad', line)),
  '',
  ...pairs(
    checks.map(({ name, state, summary: why }) => [
      name,
      `${style.sign(TONES[state])} ${state === 'unknown' ? 'unknown: ' : ''}${plain(why, style)}`,
    ]),
    style,
  ),
]

/** A service may have any label: control characters must not reach the terminal. */
const plain = (text: string, style: Style): string => style.plain(sanitize(text))
