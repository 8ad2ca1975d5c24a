import { access, chmod, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { nextTurn, systemClock } from '../../src/core/clock.ts'
import { createExec, createExecWithTimeouts, type Exec } from '../../src/sources/exec.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/directory.ts'
import { asOrdinaryUser } from '../support/ordinary-user.ts'
import { manualClock } from '../support/manual-clock.ts'
import { isAlive } from '../support/programs.ts'

const bin = await temporaryFolder()

/** A program on PATH that does what the shell text says. */
const program = async (name: string, script: string): Promise<string> => {
  await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`)
  await chmod(join(bin, name), 0o755)
  return name
}
const path = (): string => `${bin}:/usr/bin:/bin`
const exec = () => createExec({ clock: systemClock, path: path() })
const never = new AbortController().signal
const after = (milliseconds: number): AbortSignal => AbortSignal.timeout(milliseconds)

/** Page faults of the children that have ended: a process that was forked has some, whether its program exists or not. */
const faultsOfChildren = async (): Promise<string | undefined> =>
  (await readFile('/proc/self/stat', 'utf8')).replace(/^.*\) /, '').split(' ')[8]

const messageOf = async (failing: Promise<unknown>): Promise<string> => {
  const error = await failing.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return error instanceof Error ? `${error.name}: ${error.message}` : 'it did not fail'
}

let executor = createExec({ clock: systemClock, path: '' })
beforeAll(() => {
  executor = exec()
})
afterEach(() => {
  executor.killAll()
})

describe('a program that ends', () => {
  test('its output, both kinds', async () => {
    const command = await program('good', 'echo out "$1"; echo err >&2')
    expect(await executor.run({ command, args: ['x y'] }, never)).toEqual({
      exitCode: 0,
      stdout: 'out x y\n',
      stderr: 'err\n',
    })
  })

  test('it gets PATH and UTC, and nothing else of the environment', async () => {
    process.env['CHAIN_TEST_SECRET'] = 'hunter2'
    const { stdout } = await executor.run({ command: 'env', args: [] }, never)
    delete process.env['CHAIN_TEST_SECRET']
    expect(
      Object.fromEntries(
        stdout
          .trim()
          .split('\n')
          .map((line) => line.split('=', 2)),
      ),
    ).toEqual({
      PATH: path(),
      HOME: '/',
      LANG: 'C.UTF-8',
      TZ: 'UTC',
      SYSTEMD_COLORS: '0',
    })
  })

  test('exit code, last words, and what to do', async () => {
    const command = await program('bad', 'echo 1; seq 100 >&2; echo "Failed to connect to bus: no" >&2; exit 3')
    expect(await messageOf(executor.run({ command, args: ['show', 'secret'] }, never))).toMatchInlineSnapshot(`
      "SourceError: Could not run bad show: exit code 3
        output: 99 ⏎ 100 ⏎ Failed to connect to bus: no
        what to do: run the agent on the host itself, where systemd is process 1, and not in a container"
    `)
  })

  test('an exit code that is an answer', async () => {
    const command = await program('no', 'echo none; exit 1')
    const { exitCode, stdout } = await executor.run({ command, args: [], answers: [0, 1] }, never)
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: 'none\n' })
  })

  test('what it leaves running ends with it', async () => {
    // It keeps the output open: without an end of it there would be none of the call.
    const command = await program('leaves', 'sleep 600 & echo done')
    expect((await executor.run({ command, args: [] }, never)).stdout).toBe('done\n')
  })

  test('a daemon that keeps its output open is not waited for after the deadline', async () => {
    const [leader, daemon] = [join(bin, 'pid-leader'), join(bin, 'pid-daemon')]
    const pidIn = async (file: string): Promise<number> =>
      Number(await eventually(() => readFile(file, 'utf8'), /\d\n/))
    const command = await program(
      'daemon',
      `echo $$ > ${leader}; setsid sh -c 'echo $$ > ${daemon}; exec sleep 600' & until [ -s ${daemon} ]; do sleep 0.01; done; echo done`,
    )
    const stop = new AbortController()
    const result = executor.run({ command, args: [], grace: 0 }, stop.signal)
    const pid = await pidIn(leader)
    await eventually(
      () => isAlive(pid),
      (is) => !is,
    )
    stop.abort()
    expect((await result).stdout).toBe('done\n')
    process.kill(await pidIn(daemon))
  })

  test('killed by a signal', async () => {
    const command = await program('dies', 'kill -ABRT $$')
    expect(await messageOf(executor.run({ command, args: [] }, never))).toBe(
      'SourceError: Could not run dies: killed by SIGABRT',
    )
  })

  test('missing, and without permission', async () => {
    expect(await messageOf(executor.run({ command: 'no-such-tool', args: [] }, never))).toMatchInlineSnapshot(`
      "SourceError: Could not run no-such-tool: there is no no-such-tool on PATH
        what to do: install it, or correct PATH in the agent's unit"
    `)
    await writeFile(join(bin, 'locked'), 'x')
    expect(await messageOf(executor.run({ command: join(bin, 'locked'), args: [] }, never))).toContain(
      'this user may not run',
    )
  })

  test('a directory of PATH that this user cannot search hides a tool that is not there', async () => {
    const command = await program('readable', 'echo here')
    const closed = await mkdtemp(join(bin, 'closed-'))
    await chmod(closed, 0o000)
    const inClosed = createExec({ clock: systemClock, path: `${closed}:/usr/bin:/bin` })
    const besides = createExec({ clock: systemClock, path: `${closed}:${bin}:/usr/bin:/bin` })
    await chmod(bin, 0o755)
    await writeFile(join(bin, 'locked'), 'x', { mode: 0o600 })
    await asOrdinaryUser(async () => {
      expect(await messageOf(inClosed.run({ command: 'no-such-tool', args: [] }, never))).toBe(
        `SourceError: Could not run no-such-tool: no-such-tool was not found on PATH; these directories cannot be searched by this user: ${closed}\n` +
          '  what to do: run the command as a user who can search them (sudo), or install no-such-tool in /usr/local/bin',
      )
      expect(await messageOf(besides.run({ command: 'locked', args: [] }, never))).toContain(
        'this user may not run locked',
      )
      const { stdout } = await besides.run({ command, args: [] }, never)
      expect(stdout).toBe('here\n')
    })
  })
})

describe('a program that does not end', () => {
  /** Runs a script that waits for a file. Returns its failure after it was aborted, and then the clock and the file came. */
  const aborted = async (name: string, script: (end: string) => string, grace: number): Promise<string> => {
    const [started, end] = [join(bin, `${name}-started`), join(bin, `${name}-end`)]
    const command = await program(name, script(`echo 1 > ${started}; until [ -e ${end} ]; do sleep 0.1; done`))
    const [stop, clock] = [new AbortController(), manualClock()]
    const failure = messageOf(createExec({ clock, path: path() }).run({ command, args: [], grace: 5000 }, stop.signal))
    await eventually(() => readFile(started, 'utf8'), /./)
    stop.abort()
    await clock.advance(grace)
    await writeFile(end, '')
    return failure
  }

  test('gets SIGTERM, and time to end by itself', async () => {
    const failure = await aborted('polite', (wait) => `trap 'exit 3' TERM\n${wait}\nexit 4`, 4999)
    expect(failure).toContain('Could not run polite: exit code 3')
  })

  test('is killed with its children, also when it ignores SIGTERM', async () => {
    const ended = join(bin, 'ended')
    // A child that was not killed ends, too: it holds the output open, without which there is no result.
    const failure = await aborted('stubborn', (wait) => `trap '' TERM\n(${wait}; echo > ${ended}) &\nwait`, 5000)
    expect(failure).toBe('SourceError: Could not run stubborn: killed by SIGKILL')
    await expect(access(ended)).rejects.toThrow('ENOENT')
  })

  test('with too much output is killed', async () => {
    const command = await program('flood', 'exec head -c 5000000 /dev/zero')
    const flood = { command, args: [], answers: [0, 1] }
    expect(await messageOf(executor.run(flood, never))).toBe(
      'SourceError: Could not run flood: it printed more than 4194304 bytes',
    )
  })

  test('with too much output has failed, also if it then exits with 0', async () => {
    const command = await program('polite-flood', 'trap "exit 0" TERM\nhead -c 5000000 /dev/zero &\nwait')
    expect(await messageOf(executor.run({ command, args: [] }, never))).toContain('it printed more than 4194304 bytes')
  })

  test('at most eight at once; the ninth waits and fails at its deadline', async () => {
    const stop = new AbortController()
    const eight = exec()
    const [one, other] = [await program('one', 'exec sleep 60'), await program('other', 'exec sleep 60')]
    const running = [one, one, one, one, other, other, other, other].map((command) =>
      eight.run({ command, args: [] }, stop.signal).catch(() => undefined),
    )
    expect(await messageOf(eight.run({ command: 'true', args: [] }, after(200)))).toContain('8 tools are still running')
    const ninth = eight.run({ command: 'echo', args: ['now'] }, never)
    stop.abort()
    expect((await ninth).stdout).toBe('now\n')
    await Promise.all(running)
  })

  test('at most four of one program: a hanging program does not block others', async () => {
    const stop = new AbortController()
    const some = exec()
    const command = await program('hanging', 'exec sleep 60')
    const running = Array.from({ length: 20 }, () =>
      some.run({ command, args: [] }, stop.signal).catch(() => undefined),
    )
    expect(await messageOf(some.run({ command, args: [] }, after(200)))).toContain('4 tools are still running')
    expect((await some.run({ command: 'echo', args: ['now'] }, after(5000))).stdout).toBe('now\n')
    stop.abort()
    await Promise.all(running)
  })

  test('is gone when the agent kills all', async () => {
    const pids = join(bin, 'pids-all')
    const command = await program('lasting', `echo $$ > ${pids}; exec sleep 600`)
    const failure = messageOf(executor.run({ command, args: [] }, never))
    const pid = Number(await eventually(() => readFile(pids, 'utf8'), /\d/))
    executor.killAll()
    expect(await failure).toContain('killed by SIGKILL')
    expect(isAlive(pid)).toBe(false)
  })
})

test('children end with the process, however it ends', async () => {
  const before = process.listeners('exit')
  process.removeAllListeners('exit')
  try {
    const pids = join(bin, 'pids-orphan')
    const command = await program('orphan', `echo $$ > ${pids}; exec sleep 600`)
    const failure = messageOf(exec().run({ command, args: [] }, never))
    await eventually(() => readFile(pids, 'utf8').catch(() => ''), /\d/)
    for (const listener of process.listeners('exit')) listener(129)
    expect(await failure).toContain('killed by SIGKILL')
  } finally {
    process.removeAllListeners('exit')
    for (const listener of before) process.on('exit', listener)
  }
})

describe('a stream', () => {
  const collect = async (command: string, signal: AbortSignal, limit: number): Promise<string> => {
    let text = ''
    for await (const chunk of executor.stream({ command, args: [] }, signal)) {
      text += Buffer.from(chunk).toString()
      if (text.length >= limit) break
    }
    return text
  }

  test('brings what comes, and ends with an error when the program does', async () => {
    const command = await program('talks', 'echo one; echo two; echo bye >&2; exit 1')
    expect(await messageOf(collect(command, never, 1e9))).toMatchInlineSnapshot(`
      "SourceError: Could not run talks: exit code 1
        output: bye"
    `)
  })

  test('a reader that has enough ends the program', async () => {
    const pids = join(bin, 'pids-stream')
    const command = await program('endless', `echo $$ > ${pids}; trap '' TERM; while :; do echo line; done`)
    expect((await collect(command, never, 5)).slice(0, 5)).toBe('line\n')
    expect(isAlive(Number(await readFile(pids, 'utf8')))).toBe(false)
  })
})

test('a stream that gathers waits after a small piece', async () => {
  const clock = manualClock()
  const [seen, written] = [join(bin, 'seen'), join(bin, 'written')]
  const command = await program(
    'pieces',
    `echo one; while [ ! -e ${seen} ]; do sleep 0.01; done; echo two; : > ${written}; exec sleep 60`,
  )
  const stream = createExec({ clock, path: path() }).stream({ command, args: [], gatherMs: 200 }, never)
  const textOf = (piece: { readonly value: Uint8Array | undefined }): string =>
    Buffer.from(piece.value ?? []).toString()
  expect(textOf(await stream.next())).toBe('one\n')
  const second = stream.next().then(textOf)
  await writeFile(seen, '')
  await eventually(
    () => access(written),
    () => true,
  )
  await clock.advance(199)
  expect(await Promise.race([second, nextTurn().then(() => 'waits')])).toBe('waits')
  await clock.advance(1)
  expect(await second).toBe('two\n')
  await stream.return(undefined)
})

test('a stream that gathers does not wait while its program writes much', async () => {
  const seen = join(bin, 'seen-much')
  const until = (count: number): string => `while [ ! -e ${seen}${count} ]; do sleep 0.01; done`
  const command = await program(
    'much',
    `dd if=/dev/zero bs=65536 count=1 2>&-; ${until(1)}; echo two; ${until(2)}; echo three; exec sleep 60`,
  )
  const stream = createExec({ clock: manualClock(), path: path() }).stream({ command, args: [], gatherMs: 200 }, never)
  const sizeOf = ({ value }: { readonly value: Uint8Array | undefined }): number | undefined => value?.length
  const sizes: (number | undefined)[] = []
  for (const count of [1, 2, 3]) {
    sizes.push(sizeOf(await stream.next()))
    await writeFile(`${seen}${count}`, '')
  }
  expect(sizes).toEqual([65_536, 4, 6])
  await stream.return(undefined)
})

test('a program that no directory of PATH has is not forked, and is found when it is there', async () => {
  const before = await faultsOfChildren()
  const stream = executor.stream({ command: 'comes-later', args: [] }, never)
  expect(await messageOf(executor.run({ command: 'comes-later', args: [] }, never))).toContain('no comes-later on PATH')
  expect(await messageOf(stream.next())).toContain('no comes-later on PATH')
  expect(await faultsOfChildren()).toBe(before)
  await program('comes-later', 'echo here')
  expect((await executor.run({ command: 'comes-later', args: [] }, never)).stdout).toBe('here\n')
  expect(await faultsOfChildren()).not.toBe(before)
})

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
  const inner: Exec = {
    run: (_, signal) => hang(signal),
    async *stream(_, signal) {
      for (let piece = 0; piece < pieces; piece += 1) yield Buffer.from(`${piece}`)
      await hang(signal)
    },
    killAll: () => undefined,
  }
  const clock = manualClock()
  return { patient: createExecWithTimeouts(inner, clock), clock, ended }
}
const outcomeOf = (promise: Promise<unknown>) => {
  const outcome = { said: 'nothing yet' }
  promise.then(
    () => (outcome.said = 'an answer'),
    (error: unknown) => (outcome.said = String(error)),
  )
  return outcome
}

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
    await clock.advance(0)
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
