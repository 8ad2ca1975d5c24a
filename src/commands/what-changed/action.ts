import type { ConfigOptions } from '../../terminal/config-options.ts'
import { configOf } from '../../terminal/config.ts'
import { type ActionContext, unlessInterrupted } from '../../terminal/io.ts'
import { type OutputOptions, printResult } from '../../terminal/output.ts'
import { type Style, wrap } from '../../terminal/style.ts'
import { count, duration, utc } from '../../core/format.ts'
import { SourceError } from '../../core/errors.ts'
import { renderDuration } from '../../core/units.ts'
import { type ChangesResponse, parseChanges } from '../../parsers/changes.ts'
import { createAgentApi } from '../../sources/endpoints.ts'
import { createHttpClient } from '../../sources/http.ts'

interface Options extends ConfigOptions, OutputOptions {
  readonly at?: number
  readonly for: number
  readonly lines: number
}

export const showChanges = async ({ io, exit, options }: ActionContext<Options>): Promise<void> => {
  const { config } = configOf(io, options)
  const { clock, signal, overrides: { ask = createHttpClient(clock) } = {} } = io
  const query = new URLSearchParams({
    at: new Date(options.at ?? clock.now()).toISOString(),
    for: renderDuration(options.for),
  })
  const text = await unlessInterrupted(io, exit, () =>
    createAgentApi(ask, config).get(`/api/v1/changes?${query.toString()}`, signal),
  )
  if (text === undefined) return
  if (text === null)
    throw new SourceError({
      doing: 'compare with the hour before',
      happened: 'no agent runs on this host, and only a running agent has the samples',
      advice: 'start the agent; `chain-agent events` and `chain-agent logs` read what was recorded before',
    })
  const response = parseChanges(text)
  const { changes } = response
  printResult(
    { io, options },
    { document: () => response, lines: (style) => changesPage(response, changes.slice(0, options.lines), style) },
  )
  exit(problemOf(response) === null ? 0 : 1)
}

const changesPage = (response: ChangesResponse, shown: ChangesResponse['changes'], style: Style): readonly string[] => {
  const { changes } = response
  const problem = problemOf(response)
  if (problem !== null) return wrap(problem, style)
  const hidden = changes.length - shown.length
  return [
    ...wrap(headline(response), style).map((line) => style.paint('strong', line)),
    '',
    ...shown.flatMap((change, index) => {
      const [first = '', ...rest] = wrap(change.text, style, '    ')
      return [`${`${index + 1}.`.padEnd(4)}${first.trimStart()}`, ...rest]
    }),
    ...(hidden === 0 ? [] : [style.paint('quiet', `${count(hidden, 'further change')} with a larger --lines.`)]),
  ]
}

const headline = ({ changes, fromAt, toAt, comparedFromAt }: ChangesResponse): string => {
  const [from, to] = [Date.parse(fromAt), Date.parse(toAt)]
  const compared = comparedFromAt === null ? '' : duration(from - Date.parse(comparedFromAt), 1)
  const what = changes.length === 0 ? 'Nothing changed' : count(changes.length, 'change')
  return `${what} in the ${duration(to - from)} up to ${utc(to)}, against the ${compared} before${changes.length === 0 ? '.' : ':'}`
}

/** Why nothing can be compared; null if it can. */
const problemOf = ({ fromAt, toAt, comparedFromAt, oldestAt, newestAt }: ChangesResponse): string | null => {
  if (comparedFromAt !== null && newestAt !== null) return null
  const [from, to] = [utc(Date.parse(fromAt)), utc(Date.parse(toAt))]
  if (oldestAt === null) return 'Nothing to compare: the agent has no samples yet. What to do: try again in a minute.'
  const oldest = utc(Date.parse(oldestAt))
  return comparedFromAt === null
    ? `Nothing to compare: the oldest sample of the agent is of ${oldest}, and the window begins at ${from}. ` +
        'What to do: use a shorter --for or a later --at; the agent keeps two hours, from its start on.'
    : `Nothing to compare: the agent has no sample of the window from ${from} to ${to}. What to do: use an earlier --at.`
}
