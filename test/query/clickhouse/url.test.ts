import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../../src/core/errors.ts'
import { parseClickHouseUrl } from '../../../query/store/clickhouse/servers.ts'

describe('the URL of a ClickHouse store', () => {
  it('has default ports, user and database', () => {
    expect(parseClickHouseUrl('clickhouse://db.example')).toEqual({
      secure: false,
      hosts: ['db.example:8123'],
      user: 'default',
      database: 'default',
      cluster: null,
      replicated: false,
      partition: 250_000,
    })
  })

  it('names the servers of a cluster', () => {
    const url = 'clickhouses://index%2B1@a:9443,b,[::1]:8443/logs?cluster=duo&replicated=1&partition=1000'
    expect(parseClickHouseUrl(url)).toEqual({
      secure: true,
      hosts: ['a:9443', 'b:8443', '[::1]:8443'],
      user: 'index+1',
      database: 'logs',
      cluster: 'duo',
      replicated: true,
      partition: 1000,
    })
  })

  it.each([
    ['another scheme', 'http://a/logs'],
    ['no server', 'clickhouse:///logs'],
    ['an empty server', 'clickhouse://a,,b/logs?cluster=c'],
    ['no port', 'clickhouse://a:port/logs'],
    ['an unknown option', 'clickhouse://a/logs?clutser=c'],
    ['a database that is no name', "clickhouse://a/x'y"],
    ['a database of two parts', 'clickhouse://a/x/y'],
    ['a cluster that is no name', "clickhouse://a/x?cluster=c'"],
    ['an empty cluster', 'clickhouse://a/x?cluster='],
    ['servers without a cluster', 'clickhouse://a,b/x'],
    ['a partition of nothing', 'clickhouse://a/x?partition=0'],
    ['replicas that are neither wanted nor not', 'clickhouse://a/x?cluster=c&replicated=yes'],
    ['a user that cannot be read', 'clickhouse://%zz@a/x'],
    ['a user that no header can carry', 'clickhouse://a%0Ab@a/x'],
    ['a user with a colon', 'clickhouse://a%3Ab@a/x'],
    ['replicas without a cluster', 'clickhouse://a/x?replicated=1'],
  ])('is rejected with %s', (_, url) => {
    expect(() => parseClickHouseUrl(url)).toThrow(ConfigError)
  })

  it('must not contain a password, and errors never show one', () => {
    const parse = (): unknown => parseClickHouseUrl('clickhouse://index:hunter2@a/logs')
    expect(parse).toThrow(/use a password file/)
    expect(parse).not.toThrow(/hunter2/)
    // Signs that part a URL, within a password.
    for (const password of ['qq/zz', '1/qq', 'qq?zz', 'qq@zz', 'qq#zz']) {
      const url = `clickhouse://index:${password}@a/logs`
      expect(() => parseClickHouseUrl(url)).toThrow(ConfigError)
      expect(() => parseClickHouseUrl(url)).not.toThrow(/qq|zz/)
    }
  })
})
