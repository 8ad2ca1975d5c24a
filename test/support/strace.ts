import { readFile } from 'node:fs/promises'
import { execa } from 'execa'
import { debianPackage } from './debian.ts'
import { must, run } from './programs.ts'
import { eventually } from './eventually.ts'
import { requireRealPart } from './real-parts.ts'

interface Program {
  readonly file: string
  /** What it needs to find its libraries, and the traced program must not see. */
  readonly env: Record<string, string>
}

/** The machine's own, or that of Debian's package, unpacked and not installed. */
const findProgram = async (): Promise<Program> => {
  if ((await run('sh', ['-c', 'command -v strace'])).code === 0) return { file: 'strace', env: {} }
  const [place, libraries] = await Promise.all(['strace', 'libunwind8'].map(debianPackage))
  const folders = ['x86_64-linux-gnu', 'aarch64-linux-gnu'].map((name) => `${libraries}/usr/lib/${name}`)
  return { file: `${place}/usr/bin/strace`, env: { LD_LIBRARY_PATH: folders.join(':') } }
}

let found: Promise<Program> | undefined
const program = (): Promise<Program> => (found ??= findProgram())

/** One system call in the output of strace; `-y` adds the path of each descriptor. */
export interface Call {
  readonly thread: number
  readonly name: string
  readonly arguments: string
  /** 0, a number, `-1 ENOSPC (…) (INJECTED)`, or `?` where the process was killed in it. */
  readonly result: string
}

/** Every call by which a program makes, writes, names, moves or removes a file, or has it on the disk, as an expression of strace. */
export const CHANGES: readonly string[] = [
  '/^(openat|creat|p?writev?|pwrite64|f?truncate|fallocate|f(data)?sync|sync(fs)?|(sym)?link(at)?|rename(at2?)?|mkdir(at)?|rmdir|unlink(at)?|[fl]?ch(mod|own)(at)?)$',
]

export const requireStrace = async () =>
  requireRealPart('strace', async () => {
    // To have the program is not enough: containers often forbid what it does.
    const { file, env } = await program()
    await must(file, ['-f', '-qq', '-o', '/dev/null', 'true'], { env })
    return { version: /version (\S+)/.exec(await must(file, ['-V'], { env }))?.[1] ?? 'unknown' }
  })

/** What is done to the given call: `signal=SIGKILL`, `error=ENOSPC`. */
export interface Injection {
  readonly call: string
  /** 1 is the first after strace has been attached; each thread is counted for itself. */
  readonly nth: number
  readonly what: string
}

interface Attachment {
  readonly threads: readonly number[]
  readonly calls: readonly string[]
  readonly file: string
  readonly injection?: Injection
}

/**
 * Attaches strace to threads of a process that waits for something, and to nothing that these start. It ends with them;
 * the answer is what they called until then.
 */
export const attach = async ({ threads, calls, file, injection }: Attachment) => {
  const injected = injection ? ['-e', `inject=${injection.call}:${injection.what}:when=${injection.nth}`] : []
  const targets = threads.flatMap((thread) => ['-p', `${thread}`])
  const traced = ['-y', '-s', '96', '-o', file, '-e', `trace=${calls.join(',')}`]
  const { file: command, env } = await program()
  const strace = execa(command, [...traced, ...injected, ...targets], {
    env,
    reject: false,
    stdin: 'ignore',
    timeout: 240_000,
  })
  let stderr = ''
  strace.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk
  })
  await eventually(() => stderr.match(/attached/g)?.length ?? 0, threads.length, { every: 5 })
  return {
    calls: async (): Promise<readonly Call[]> => {
      await strace
      return parseCalls(await readFile(file, 'utf8'), threads[0])
    },
  }
}

/** What to write before a command, so that the given call on the given files fails or ends it. */
export const injecting = async (
  { call, nth, what }: Injection,
  files: readonly string[],
): Promise<readonly string[]> => {
  const { file, env } = await program()
  const own = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  return [
    ...(own.length > 0 ? ['env', ...own] : []),
    file,
    '-f',
    '-qq',
    '-o',
    '/dev/null',
    ...Object.keys(env).flatMap((name) => ['-E', name]),
    ...files.flatMap((path) => ['-P', path]),
    '-e',
    `trace=${call}`,
    '-e',
    `inject=${call}:${what}:when=${nth}`,
  ]
}

/** Runs a program and its children, and returns their system calls. */
export const trace = async (
  argv: readonly string[],
  options: {
    readonly calls: readonly string[]
    readonly file: string
    readonly env: Record<string, string>
  },
): Promise<{ readonly code: number; readonly calls: readonly Call[] }> => {
  const { calls, file, env } = options
  const { file: command, env: own } = await program()
  const { code } = await run(
    command,
    [
      '-f',
      '-qq',
      '--seccomp-bpf',
      '-y',
      '-s',
      '256',
      '-o',
      file,
      '-e',
      `trace=${calls.join(',')}`,
      ...Object.keys(own).flatMap((name) => ['-E', name]),
    ].concat(argv),
    { env: { ...env, ...own }, extendEnv: false },
  )
  return { code, calls: parseCalls(await readFile(file, 'utf8')) }
}

/** The calls in order of their start. For a single thread strace prints no thread ID. */
const parseCalls = (text: string, single = 0): readonly Call[] => {
  const calls: Call[] = []
  /** Thread → the place of its call that has not ended yet. */
  const open = new Map<number, { readonly at: number; readonly begun: string }>()
  for (const line of text.split('\n')) {
    const [, thread = `${single}`, rest = ''] = /^(\d+)?\s*(.*)$/.exec(line) ?? []
    const id = Number(thread)
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest)?.[1]
    const before = open.get(id)
    if (resumed !== undefined && before) {
      open.delete(id)
      const call = parseCall(id, before.begun + resumed)
      if (call) calls[before.at] = call
      continue
    }
    const begun = /^(.*) <unfinished \.\.\.>$/.exec(rest)?.[1]
    const call = parseCall(id, begun === undefined ? rest : `${begun}) = ?`)
    if (!call) continue
    if (begun !== undefined) open.set(id, { at: calls.length, begun })
    calls.push(call)
  }
  return calls
}

const parseCall = (thread: number, text: string): Call | undefined => {
  const [, name, args, result] = /^(\w+)\((.*)\)\s+= (.*)$/.exec(text) ?? []
  return name === undefined || args === undefined || result === undefined
    ? undefined
    : { thread, name, arguments: args, result }
}
