import { expect, test } from 'vitest'
import type { Program } from '../../src/sources/exec.ts'
import { startCli } from '../support/cli.ts'
import { shipped } from '../support/shipped.ts'

const { NoResponseError, READER_GONE, SourceError } = shipped

const brokenOff = (): Error => new SourceError({ doing: 'run it', happened: 'killed by SIGTERM' })
const whenEnded = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })
const AT = Date.UTC(2026, 2, 1)
const ENTRY = JSON.stringify({
  __CURSOR: 'c',
  __REALTIME_TIMESTAMP: `${AT}000`,
  _SYSTEMD_UNIT: 'zephyr-bft.service',
  _PID: '7',
  MESSAGE: '{"level":"INFO","target":"ledger_tail","fields":{"message":"news"}}',
})

/** Interrupts a command on a host whose tools hang after `entries` journal entries. */
const interrupted = async (argv: readonly string[], { entries = 0, reason = 'Ctrl-C' } = {}) => {
  let hung = (): void => undefined
  const hangs = new Promise<void>((resolve) => {
    hung = resolve
  })
  const hang = async (signal: AbortSignal): Promise<never> => {
    hung()
    await whenEnded(signal)
    throw brokenOff()
  }
  const exec = {
    run: ({ command }: Program, signal: AbortSignal) =>
      entries > 0 && command === 'journalctl'
        ? Promise.resolve({ exitCode: 0, stdout: `${ENTRY}\n`, stderr: '' })
        : hang(signal),
    async *stream(_: Program, signal: AbortSignal) {
      for (let entry = 0; entry < entries; entry += 1) yield Buffer.from(`${ENTRY}\n`)
      await hang(signal)
    },
    killAll: () => undefined,
  }
  const running = startCli([...argv, '--prefix', 'zephyr'], {
    overrides: { exec, ask: ({ url }) => Promise.reject(new NoResponseError('refused', url, 'ECONNREFUSED')) },
  })
  await hangs
  return running.interrupt(reason)
}

const NOTHING = { code: 1, out: '', err: 'Interrupted before there was a result.\n' }

test.each([
  [['check']],
  [['recover']],
  [['status']],
  [['ledger']],
  [['ledger', '--json']],
  [['replay']],
  [['logs', 'bft']],
])('%j reports that Ctrl-C came before a result', async (argv) => {
  expect(await interrupted(argv)).toEqual(NOTHING)
})

test('after a part of the output, Ctrl-C reports that it is incomplete', async () => {
  const told = await interrupted(['logs', 'bft', '--since', '2026-02-28'], { entries: 1 })
  expect(told).toMatchObject({ code: 1, err: 'Interrupted; the output is incomplete.\n' })
  expect(told.out).toContain('news')
})

test('Ctrl-C ends --follow with exit code 0', async () => {
  const told = await interrupted(['logs', 'bft', '-f'], { entries: 1 })
  expect(told).toMatchObject({ code: 0, err: '' })
})

test('a reader that closes the pipe is no interruption', async () => {
  const told = await interrupted(['logs', 'bft', '--since', '2026-02-28'], { entries: 1, reason: READER_GONE })
  expect(told).toMatchObject({ code: 0, err: '' })
})
