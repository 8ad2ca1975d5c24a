import { native } from '../../src/collectors/native/collector.ts'
import { NoResponseError } from '../../src/sources/http.ts'
import { manualClock } from '../support/manual-clock.ts'
import { recording } from './recording.ts'
import { runPolls } from './run-collector.ts'

export const BEGIN = 1_780_000_000_000
const timing = { interval: 10_000, timeout: 5000 }
export const refused = new NoResponseError('refused', 'http://u:pw@h.example/KEY?token=T', 'ECONNREFUSED')
const labels = 'network="devnet",service_name="devnet_crow",service_version="0.16.4"'

/** Metrics as consensus serves them or, with a timestamp, as an OpenTelemetry collector does. */
export const text = (values: Readonly<Record<string, number>>, timestampMs?: number): string =>
  Object.entries(values)
    .map(([name, value]) => `zephyr_${name}{${labels}} ${value}${time(timestampMs)}\n`)
    .join('')
const time = (ms?: number): string => (ms === undefined ? '' : ` ${ms}`)
export const up = (seconds: number) => ({ total_uptime_us: seconds * 1e6 })

type HttpResponse = string | number | Error
export interface Answers {
  native: HttpResponse
  otel: HttpResponse
}

export const start = async (answers: Answers, namePrefix: string | null = null) => {
  const clock = manualClock(BEGIN)
  const record = recording()
  const requests: string[] = []
  const collector = native({
    url: 'native',
    fallbackUrl: 'otel',
    namePrefix,
    readPrefix: () => Promise.resolve({ word: 'zephyr', from: 'systemd' }),
    at: (url) => ({
      metrics: () => {
        requests.push(url)
        const answer = answers[url === 'otel' ? 'otel' : 'native']
        if (answer instanceof Error) return Promise.reject(answer)
        if (typeof answer === 'number') return Promise.resolve({ status: answer, text: 'no' })
        return Promise.resolve({ status: 200, text: answer })
      },
    }),
    recorder: record.recorder,
    clock,
    timing,
  })
  return { ...record, requests, clock, ...(await runPolls(collector, clock, 'chain_native_')) }
}

export const UNPARSED = 'chain_agent_lines_total{format=prometheus,result=unparsed}'
