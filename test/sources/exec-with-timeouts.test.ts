import { describe, expect, test } from 'vitest'
import { createExecWithTimeouts, type Exec } from '../../src/sources/exec.ts'
import { manualClock } from '../support/manual-clock.ts'

const never = new AbortController().signal
const whenEnded = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      resolve()
    })
  })

/** Programs that say so many pieces and then hang, even when they are ended. */
const hanging = (pieces: number) => {
  const ended: string[] = []
  const hang = async (signal: AbortSignal): Promise<never> => {
    await whenEnded(signal)
    ended.push('asked to end')
    return new Promise<never>(() => undefined)
  }
  const exec: Exec = {
    run: (_, signal) => hang(signal),
    async *stream(_, signal) {
      for (let piece = 0; piece < pieces; piece += 1) yield Buffer.from(`${piece}`)
      await hang(signal)
    },
    killAll: () => undefined,
  }
  const clock = manualClock()
  return { patient: createExecWithTimeouts(exec, clock), clock, ended }
}
const outcomeOf = (promise: Promise<unknown>) => {
  const outcome = { said: 'nothing yet' }
  promise.then(
    () => (outcome.said = 'an answer'),
    (error: unknown) => (outcome.said = String(error)),
  )
  return outcome
}
const turn = (clock: ReturnType<typeof manualClock>) => clock.advance(0)

test('a program that hangs fails after ten seconds and is killed', async () => {
  const { patient, clock, ended } = hanging(0)
  const outcome = outcomeOf(patient.run({ command: 'systemctl', args: [] }, never))
  await clock.advance(9999)
  expect(outcome.said).toBe('nothing yet')
  await clock.advance(1)
  expect(outcome.said).toContain('Could not run systemctl: there was no output for 10s')
  expect(ended).toEqual(['asked to end'])
})

describe('a stream that falls silent', () => {
  test.each([
    [['-u', 'x'], 30_000],
    [['-u', 'x', '--grep=y'], 300_000],
  ])('%j is an error after %i ms', async (args, limit) => {
    const { patient, clock, ended } = hanging(1)
    const stream = patient.stream({ command: 'journalctl', args }, never)
    expect((await stream.next()).value).toEqual(Buffer.from('0'))
    const outcome = outcomeOf(stream.next())
    await turn(clock)
    await clock.advance(limit - 1)
    expect(outcome.said).toBe('nothing yet')
    await clock.advance(1)
    expect(outcome.said).toContain('Could not run journalctl: there was no output for')
    expect(ended).toEqual(['asked to end'])
  })

  test('while its reader is busy is none', async () => {
    const { patient, clock } = hanging(2)
    const stream = patient.stream({ command: 'journalctl', args: [] }, never)
    await stream.next()
    await clock.advance(3_600_000)
    expect((await stream.next()).value).toEqual(Buffer.from('1'))
  })

  test('and follows what is yet to come is none', async () => {
    const { patient, clock } = hanging(0)
    const stream = patient.stream({ command: 'journalctl', args: ['--follow'] }, never)
    const outcome = outcomeOf(stream.next())
    await clock.advance(3_600_000)
    expect(outcome.said).toBe('nothing yet')
  })
})
