import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { alerts } from '../alerts/files.ts'
import { parseConfigFile } from '../../src/config/file.ts'
import { loadConfig } from '../../src/config/load.ts'
import { API_MAX_CONNECTIONS, QUERY_LIMITS } from '../../query/service/api/limits.ts'
import { LOG_FIELDS } from '../../query/log-fields.ts'
import { planOf } from '../../query/commands/serve-query/open-store.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')
const page = ['tutorials', 'how-to', 'reference'].map((kind) => read(`docs/${kind}/query-service.md`)).join('\n')
const many = (count: number): string => count.toLocaleString('en-US')
const MiB = 1024 * 1024

describe('the pages of the query service', () => {
  it('tells the limits as they are', () => {
    const { bodyBytes, bodyValues, values, filters, pageBytes, pageLogs, pageMs } = QUERY_LIMITS
    const { concurrent, waiting, waitMs, unsentBytes, sendMs } = QUERY_LIMITS
    for (const words of [
      `${pageBytes / MiB} MiB, ${many(pageLogs)} logs or ${pageMs / 1000} seconds`,
      `${bodyBytes / MiB} MiB, ${many(bodyValues)} JSON values, ${filters} filters, ${many(values)} addresses and topics`,
      `${concurrent} reads, ${waiting} that wait for ${waitMs / 1000} seconds, fair by client; ${API_MAX_CONNECTIONS} connections`,
      `${unsentBytes / MiB} MiB together; one times out after ${sendMs / 60_000} minutes`,
    ])
      expect(page).toContain(words)
  })

  it('names every reason to refuse, with its status', () => {
    const reasons = [...read('query/service/api/http-error.ts').matchAll(/^ {2}([a-z_]+): (\d{3}),$/gm)].map(
      ([, code = '', status = '']) => ({ code, status }),
    )
    expect(reasons.length).toBeGreaterThan(15)
    const rows = page.split('\n').filter((line) => line.startsWith('| '))
    const isTold = ({ code, status }: (typeof reasons)[number]): boolean =>
      rows.some((row) => row.includes(`\`${code}\``) && row.includes(status))
    // A fault of ours is not for a table of what came.
    expect(reasons.filter((one) => !isTold(one)).map(({ code }) => code)).toEqual(['internal'])
  })

  it('names every field of a log', () => {
    const [, few = ''] = /Only the requested fields are returned:([^.]+)\./.exec(page) ?? []
    const named = LOG_FIELDS.filter((field) => !/^topic[1-3]$/.test(field))
    expect(named.filter((field) => !few.includes(`\`${field}\``))).toEqual([])
    expect(few).toContain('`topic3`')
  })

  it('shows configurations that can be used', () => {
    const files = [/<<'END'\n([\s\S]+?)END\n/, /```yaml\n(# \/etc[\s\S]+?)```/].map((shown) =>
      parseConfigFile('query-service.md', shown.exec(page)?.[1] ?? ''),
    )
    const [service, agent] = files.map((file) => loadConfig({ file, env: {}, flags: [] }).config)
    expect(service && planOf(service).retention).toEqual({ blocks: null, bytes: 200e9 })
    expect(Object.keys(agent?.host.directories ?? {})).toEqual(['ledger', 'wal', 'query'])
  })

  it('names its alerts', () => {
    const own = new Set(alerts.filter(({ file }) => file === 'query-service').map(({ alert }) => alert))
    for (const alert of own) expect(page).toContain(alert)
  })
})
