// docs/metrics.md: every metric, by collector.
import { chapters } from '../../.cache/modules/metrics.js'

export const renderMetricsPage = () =>
  `${[
    '# Metrics',
    '',
    'Generated from `src/collectors/*/definition.ts` by `npm run generate`.',
    '',
    'An unknown value is absent: when a source fails, its series are removed once the last reading is older than two',
    'intervals plus the timeout, and `chain_agent_collector_up` becomes 0. Counters kept by the agent itself (marked',
    '*agent*) and histograms stay. Units are base units.',
    '',
    `Chapters: ${Object.keys(chapters)
      .map((name) => `[${name}](#${name})`)
      .join(' · ')}`,
    ...Object.entries(chapters).flatMap(([name, { introduction, metrics }]) => [
      '',
      `## ${name}`,
      '',
      introduction,
      '',
      '| metric | type | labels | meaning |',
      '|---|---|---|---|',
      ...Object.entries(metrics).map(([metric, definition]) => row(metric, definition)),
    ]),
  ].join('\n')}\n`

const row = (name, { type, help, labels, buckets }) => {
  const kind = {
    gauge: 'gauge',
    histogram: 'histogram',
    counter: 'counter, *agent*',
    'external counter': 'counter',
  }[type]
  const names = Object.entries(labels ?? {}).map(([label, values]) =>
    typeof values === 'string' ? label : `${label}: ${values.join(', ')}`,
  )
  const more = buckets ? ` Buckets: ${buckets.join(', ')}.` : ''
  return `| \`${name}\` | ${kind} | ${names.join('; ')} | ${help}${more} |`
}
